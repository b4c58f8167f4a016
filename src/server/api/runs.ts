import type { Context } from 'hono';
import type { Daemon } from '../../ports/daemon.ts';
import type { RunQuery } from '../../ports/store.ts';
import { fail } from '../http/envelope.ts';
import { positionOf, readRunList } from '../run-list.ts';
import { eventEntry, runEntry } from './entries.ts';

const DEFAULT_RUNS = 50;
const MAX_RUNS = 500;

/** History, newest first, a page at a time: `next_cursor` asks for the next one. */
export function getRuns(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const query = runQuery(c.req.query());
    if (typeof query === 'string') return fail(c, 'bad_request', query);
    const { runs, nextCursor } = await readRunList(daemon.history, query);
    return c.json({ runs: runs.map(runEntry), next_cursor: nextCursor });
  };
}

export function getRun(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const id = c.req.param('id') ?? '';
    const found = await daemon.history.findRun(id);
    if (found === null) return fail(c, 'run_not_found', `There is no run "${id}".`);
    return c.json({ run: runEntry(found.run), events: found.events.map(eventEntry) });
  };
}

/** The query, or what is wrong with it. */
function runQuery(given: Record<string, string>): RunQuery | string {
  const limit = given.limit === undefined ? DEFAULT_RUNS : wholeNumber(given.limit);
  if (limit === null || limit < 1 || limit > MAX_RUNS) return `limit must be a whole number from 1 to ${MAX_RUNS}.`;
  const before = given.before === undefined ? undefined : moment(given.before);
  if (before === null) return 'before must be a UTC time such as 2026-01-31T12:00:00.000Z.';
  const after = given.cursor === undefined ? undefined : positionOf(given.cursor);
  if (after === null) return 'cursor must be the next_cursor of an earlier answer.';
  if (given.identifier === '') return 'identifier must not be empty.';
  return {
    limit,
    ...(given.identifier === undefined ? {} : { identifier: given.identifier }),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** A timestamp as our own answers write it; what has no offset would be read as local time, so it is refused. */
function moment(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return null;
  const epochMs = Date.parse(text);
  return Number.isNaN(epochMs) ? null : epochMs;
}
