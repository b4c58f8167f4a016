import type { ProcessLedger } from '../../ports/agent.ts';
import type { Row } from './work.ts';

/** Process groups of sessions, written down so that a crash leaves a trace of them. */
export interface ProcessRecords extends ProcessLedger {
  /** Groups that an earlier daemon started and did not see end. */
  leftovers(): readonly Leftover[];
  /** Forgets the leftovers; those of this daemon stay. */
  clear(): void;
}

export interface Leftover {
  readonly pid: number;
  /** Empty when the leader was gone before it could be recorded. */
  readonly startTime: string;
  readonly owner: string;
}

/** Of the columns `pid`, `start_time` and `owner`. */
export function leftoverOf(row: Row): Leftover {
  return { pid: Number(row.pid), startTime: String(row.start_time), owner: String(row.owner) };
}
