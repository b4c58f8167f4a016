/** The world outside of pure code: time, chance and the log. Passed in, never reached for. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** A clock whose intervals are true: it follows a change of the wall clock only when told. */
export interface SteadyClock extends Clock {
  /** How far the wall clock is ahead of this one. */
  drift(): number;
  /** Follows the wall clock from here on; returns how far it was ahead. */
  adopt(): number;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogValue = string | number | boolean | null | undefined;
export type LogAttributes = Readonly<Record<string, LogValue>>;

/** Static messages; the facts are attributes. Undefined attributes are left out. */
export interface Logger {
  debug(message: string, attributes?: LogAttributes): void;
  info(message: string, attributes?: LogAttributes): void;
  warn(message: string, attributes?: LogAttributes): void;
  error(message: string, attributes?: LogAttributes): void;
}
