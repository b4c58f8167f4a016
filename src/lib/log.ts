import { visibleJson } from './visible-json.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';
export type FieldValue = string | number | boolean | null | undefined;
export type Attributes = Readonly<Record<string, FieldValue>>;

export interface LogOptions {
  readonly level: Level;
  readonly format: 'text' | 'json';
  /** False when the line could not be kept. */
  readonly write: (line: string) => unknown;
  readonly now: () => number;
  /** Applied to the message and to every text value, so that no secret gets through. */
  readonly mask: (text: string) => string;
}

export interface Log {
  debug(message: string, attributes?: Attributes): void;
  info(message: string, attributes?: Attributes): void;
  warn(message: string, attributes?: Attributes): void;
  error(message: string, attributes?: Attributes): void;
}

/** One record is one line, whatever its values hold. */
export function createLog(options: LogOptions): Log {
  const lowest = LEVELS.indexOf(options.level);
  const formatted = options.format === 'json' ? jsonRecord : textRecord;
  let lost = 0;
  const write = (level: Level, message: string, attributes: Attributes): void => {
    const time = new Date(options.now()).toISOString();
    if (options.write(`${formatted(level, message, attributes, time)}\n`) === false) lost += 1;
  };
  const at = (level: Level) => {
    if (LEVELS.indexOf(level) < lowest) return () => {};
    return (message: string, attributes: Attributes = {}) => {
      const before = lost;
      write(level, options.mask(message), masked(attributes, options.mask));
      if (before === 0 || lost > before) return;
      lost = 0;
      write('warn', 'log records were lost: who reads them did not take them', { count: before });
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** `level=INFO msg="…" key=value … time=…`: the time comes last. */
export function textRecord(level: Level, message: string, attributes: Attributes, time: string): string {
  let text = `level=${level.toUpperCase()} msg=${textValue(message)}`;
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) text += ` ${plainKey(key)}=${textValue(value)}`;
  return `${text} time=${time}`;
}

export function jsonRecord(level: Level, message: string, attributes: Attributes, time: string): string {
  // What is undefined is left out.
  return visibleJson({ level: level.toUpperCase(), msg: message, ...attributes, time });
}

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];

function masked(attributes: Attributes, mask: (text: string) => string): Attributes {
  const safe = Object.create(null) as Record<string, FieldValue>;
  for (const [key, value] of Object.entries(attributes)) safe[key] = typeof value === 'string' ? mask(value) : value;
  return safe;
}

/** Quoted when it holds anything that could be taken for the end of the value. */
function textValue(value: FieldValue): string {
  const text = String(value);
  return SAFE.test(text) ? text : visibleJson(text);
}

/** Letters, digits and marks of any script, and punctuation that ends nothing. */
const SAFE = /^[\p{L}\p{N}\p{M}_./:@+,;#%&*()[\]{}<>!?~^$|-]+$/u;

function plainKey(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
}
