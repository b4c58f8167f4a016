import type { Quota } from '../domain/model/quota.ts';

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
