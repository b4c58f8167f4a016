import type { Quota } from '../domain/model/quota.ts';

/** The world outside of pure code: time, chance and the log. Passed in, never reached for. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** A clock whose intervals are true: it follows a change of the wall clock only when told. */
export interface SteadyClock extends Clock {
  /** How far the wall clock is ahead of this one. */
  drift(): number;
  /** Follows the wall clock from here on. */
  adopt(): void;
  /** By how much it was moved in all: several follow one clock, and each must hear of every move. */
  adopted(): number;
}

/** Whether this process may change something outside: not where another one leads by now. */
export interface WritePermission {
  /** Resolves when it may, and rejects when it may not any more. */
  confirm(): Promise<void>;
  /** Whether the last confirmation still holds at this very moment. */
  isConfirmed(): boolean;
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

/** Hears of every request that goes to a remote, and of what the remote says is left of its budgets. */
export interface RequestMeter {
  /** One request was answered, or failed on the way. */
  made(kind: string, result: 'success' | 'error'): void;
  /** What an answer said of one budget. */
  left(reading: QuotaReading): void;
  /** What time it is there; not a number where an answer does not say. */
  dated?(at: number): void;
}

export interface QuotaReading extends Omit<Quota, 'pollCost'> {
  /** What the request took of it. */
  readonly cost: number;
}
