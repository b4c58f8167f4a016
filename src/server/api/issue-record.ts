import type { Context } from 'hono';
import type { Daemon } from '../../ports/daemon.ts';
import { fail } from '../http/envelope.ts';
import { findIssueRecord, type IssueRecord } from '../issue-record.ts';
import { holdEntry, issueFields, parkedEntry, retryEntry, runEntry, runningEntry, watchEntry } from './entries.ts';
import { noSnapshot, readSnapshot } from '../snapshot.ts';

/** One issue, whatever its place: claim, retry, parked, watch, runs, holds. */
export function getIssueRecord(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return noSnapshot(c);
    const identifier = c.req.param('identifier') ?? '';
    const record = await findIssueRecord(daemon, snapshot, identifier);
    if (record === null) return fail(c, 'issue_not_found', `Issue "${identifier}" is not one this service knows.`);
    return c.json(recordBody(record));
  };
}

function recordBody({ issue, place, state, running, retry, parked, hold, watch, runs, nextCursor }: IssueRecord) {
  return {
    ...issueFields(state === issue.state ? issue : { ...issue, stateAssumed: false }),
    state,
    place,
    claim: running && { phase: running.lastEvent === 'handing_off' ? 'handing_off' : 'running', ...runningEntry(running) },
    retry: retry && retryEntry(retry),
    parked: parked && parkedEntry(parked),
    watch: watch && watchEntry(watch),
    holds: hold === null ? [] : [holdEntry(hold)],
    runs: runs.map(runEntry),
    next_cursor: nextCursor,
  };
}
