import type { Run } from '../domain/model/run.ts';
import type { Daemon } from '../ports/daemon.ts';
import type { RunQuery } from '../ports/store.ts';

/** One page of the history. */
export interface RunList {
  /** Newest first. */
  readonly runs: readonly Run[];
  /** Asks for the next page; null where there is none. */
  readonly nextCursor: string | null;
}

/** Reads one more than is asked for: it alone tells whether a page that is full is the last. */
export async function readRunList(history: Daemon['history'], query: RunQuery): Promise<RunList> {
  const read = await history.listRuns({ ...query, limit: query.limit + 1 });
  const runs = read.slice(0, query.limit);
  const last = read.length > runs.length ? runs.at(-1) : undefined;
  return { runs, nextCursor: last === undefined ? null : cursorOf(last) };
}

/** A position in the list, encoded so that clients take it as it is. */
function cursorOf({ startedAt, id }: Run): string {
  return Buffer.from(`${startedAt} ${id}`).toString('base64url');
}

export function positionOf(cursor: string): { readonly startedAt: number; readonly id: string } | null {
  const [, startedAt, id] = /^(\d{1,15}) (.{1,200})$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return startedAt === undefined || id === undefined ? null : { startedAt: Number(startedAt), id };
}
