import type { LogAttributes, LogLevel } from '../ports/runtime.ts';

/** What is written of one notice. */
export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: LogAttributes;
}

export function record(level: LogLevel, message: string, attributes: LogAttributes): LogRecord {
  return { level, message, attributes };
}

export function debug(message: string, attributes: LogAttributes): LogRecord {
  return record('debug', message, attributes);
}

export function info(message: string, attributes: LogAttributes): LogRecord {
  return record('info', message, attributes);
}

export function warn(message: string, attributes: LogAttributes): LogRecord {
  return record('warn', message, attributes);
}

export function error(message: string, attributes: LogAttributes): LogRecord {
  return record('error', message, attributes);
}
