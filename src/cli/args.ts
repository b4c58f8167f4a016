import { parseArgs } from 'node:util';

/** What the command line asks for. */
export type Invocation =
  | { readonly command: 'help'; readonly topic: string | null }
  | { readonly command: 'version' }
  | ({ readonly command: 'run' } & RunArgs)
  | { readonly command: 'validate'; readonly workflowPath: string; readonly format: 'text' | 'json' }
  | { readonly command: 'schema' }
  | { readonly command: 'mcp' }
  | { readonly command: 'unpark'; readonly identifier: string; readonly workflowPath: string }
  | { readonly command: 'demo'; readonly port: number };

export interface RunArgs {
  readonly workflowPath: string;
  readonly port: number | null;
  readonly dryRun: boolean;
  readonly logLevel: LogLevel | null;
  readonly logFormat: LogFormat | null;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const LOG_FORMATS = ['text', 'json'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = (typeof LOG_FORMATS)[number];

const DEFAULT_PATH = 'WORKFLOW.md';

/** A command line that makes no sense. The message says what and what would. */
export class UsageError extends Error {}

export function readArgs(argv: readonly string[]): Invocation {
  const [first, ...rest] = argv;
  switch (first) {
    case 'validate':
      return readValidate(rest);
    case 'schema':
      return readPlain(rest, 'schema', { command: 'schema' });
    case 'mcp':
      return readPlain(rest, 'mcp', { command: 'mcp' });
    case 'unpark':
      return readUnpark(rest);
    case 'demo':
      return readDemo(rest);
    case 'help':
      return { command: 'help', topic: rest[0] ?? null };
    default:
      return readRun(argv);
  }
}

function readRun(argv: readonly string[]): Invocation {
  const { values, positionals } = parse(argv, {
    port: { type: 'string' },
    'dry-run': { type: 'boolean' },
    'log-level': { type: 'string' },
    'log-format': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'V' },
  });
  if (values['help'] === true) return { command: 'help', topic: null };
  if (values['version'] === true) return { command: 'version' };
  return {
    command: 'run',
    workflowPath: onePath(positionals),
    port: values['port'] === undefined ? null : readPort(String(values['port'])),
    dryRun: values['dry-run'] === true,
    logLevel: oneOf('--log-level', values['log-level'], LOG_LEVELS),
    logFormat: oneOf('--log-format', values['log-format'], LOG_FORMATS),
  };
}

function readValidate(argv: readonly string[]): Invocation {
  const { values, positionals } = parse(argv, { format: { type: 'string' }, help: { type: 'boolean', short: 'h' } });
  if (values['help'] === true) return { command: 'help', topic: 'validate' };
  const format = oneOf('--format', values['format'], LOG_FORMATS) ?? 'text';
  return { command: 'validate', workflowPath: onePath(positionals), format };
}

function readUnpark(argv: readonly string[]): Invocation {
  const { values, positionals } = parse(argv, { help: { type: 'boolean', short: 'h' } });
  if (values['help'] === true) return { command: 'help', topic: 'unpark' };
  const [identifier, ...rest] = positionals;
  if (identifier === undefined)
    throw new UsageError('unpark needs the identifier of the issue: foray unpark IDENTIFIER [WORKFLOW.md]');
  return { command: 'unpark', identifier, workflowPath: onePath(rest) };
}

function readDemo(argv: readonly string[]): Invocation {
  const { values, positionals } = parse(argv, { port: { type: 'string' }, help: { type: 'boolean', short: 'h' } });
  if (values['help'] === true) return { command: 'help', topic: 'demo' };
  if (positionals.length > 0) throw new UsageError(`unexpected argument "${positionals[0]}"`);
  return { command: 'demo', port: values['port'] === undefined ? 0 : readPort(String(values['port'])) };
}

function readPlain(argv: readonly string[], topic: string, invocation: Invocation): Invocation {
  const { values, positionals } = parse(argv, { help: { type: 'boolean', short: 'h' } });
  if (values['help'] === true) return { command: 'help', topic };
  if (positionals.length > 0) throw new UsageError(`unexpected argument "${positionals[0]}"`);
  return invocation;
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options'];

function parse(argv: readonly string[], options: Options): { values: Record<string, unknown>; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: options ?? {}, allowPositionals: true, strict: true });
    return { values, positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error));
  }
}

function onePath(positionals: readonly string[]): string {
  if (positionals.length > 1)
    throw new UsageError(`expected one workflow file, got ${positionals.length}: ${positionals.join(' ')}`);
  return positionals[0] ?? DEFAULT_PATH;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`--port must be a whole number from 0 to 65535, got "${text}"`);
  return port;
}

function oneOf<T extends string>(flag: string, value: unknown, allowed: readonly T[]): T | null {
  if (value === undefined) return null;
  const word = String(value).toLowerCase();
  const found = allowed.find((candidate) => candidate === word);
  if (!found) throw new UsageError(`${flag} must be one of ${allowed.join(', ')}, got "${String(value)}"`);
  return found;
}
