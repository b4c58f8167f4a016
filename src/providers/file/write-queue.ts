import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { RecordEdit, TimedEdit } from './edit.ts';
import { asTrackerErrors } from './failures.ts';
import type { IssueSource, SourceEdit } from './records.ts';

/** Changes one record for good. */
export type ChangeRecord = (id: string, edit: RecordEdit, signal: AbortSignal) => Promise<void>;

interface Waiting extends SourceEdit {
  readonly signal: AbortSignal;
  settle(fault: unknown): void;
}

/** Where nobody else has come for so long, nobody else is about to. */
const COMPANY_MS = 2;
/** A long list takes about as long to write: it is worth such a wait. */
const COMPANY_MS_PER_MB = 2;
/** Nobody waits longer than this for others. */
const LONGEST_WAIT_MS = 100;

type Source = Pick<IssueSource, 'change' | 'sharedBytes'>;

/**
 * Writes take turns, and those that wait for theirs are written together: a list of thousands is written as a whole for
 * each, whether one of its records changed or a hundred. So each waits for a moment whether others come.
 */
export function createWriteQueue(source: Source, location: string, now: () => string): ChangeRecord {
  let waiting: Waiting[] = [];
  let isWriting = false;

  async function work(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const bytes = source.sharedBytes();
      await (bytes > 0 ? company(Math.max(COMPANY_MS, (bytes / 1e6) * COMPANY_MS_PER_MB)) : nextTurn());
      const turn = waiting;
      waiting = [];
      await writeTogether(source, turn);
    }
    isWriting = false;
  }

  /** Until no more of them come. */
  async function company(ms: number): Promise<void> {
    const until = performance.now() + LONGEST_WAIT_MS;
    for (let before = 0; waiting.length > before && performance.now() < until;) {
      before = waiting.length;
      await delay(Math.min(ms, until - performance.now()));
    }
  }

  return (id, edit, signal) =>
    asTrackerErrors(
      'WRITE',
      location,
      signal,
      () =>
        new Promise((resolve, reject) => {
          const timed: TimedEdit = { ...edit, at: now() };
          waiting.push({ id, edit: timed, signal, settle: (fault) => (fault === null ? resolve() : reject(fault as Error)) });
          if (!isWriting) void work();
        }),
    );
}

/** Never rejects: each hears of its own fault, and all of one that stands in the way of all. */
async function writeTogether(source: Source, turn: readonly Waiting[]): Promise<void> {
  for (const { signal, settle } of turn) if (signal.aborted) settle(signal.reason);
  const wanted = turn.filter(({ signal }) => !signal.aborted);
  if (wanted.length === 0) return;
  try {
    const faults = await source.change(wanted);
    for (const [index, { settle }] of wanted.entries()) settle(faults[index] ?? null);
  } catch (error) {
    for (const { settle } of wanted) settle(error);
  }
}
