import type { Context } from 'hono';
import type { Parked } from '../../domain/model/claim.ts';
import type { IssueRef } from '../../domain/model/issue.ts';
import type { Run, RunEvent } from '../../domain/model/run.ts';
import type { Snapshot, WatchView } from '../../domain/snapshot.ts';
import type { Hold } from '../../domain/model/state.ts';
import type { ReactionProgress } from '../../domain/model/watch.ts';
import type { Daemon } from '../../ports/daemon.ts';
import type { RunQuery } from '../../ports/store.ts';
import { displayIdentifier, noSnapshot, readSnapshot, tokenCounts } from './v1.ts';
import { fail, isoTime } from '../envelope.ts';

const DEFAULT_RUNS = 50;
const MAX_RUNS = 500;

/** History, newest first, a page at a time: `next_cursor` asks for the next one. */
export function getRuns(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const query = runQuery(c.req.query());
    if (typeof query === 'string') return fail(c, 'bad_request', query);
    const runs = await daemon.history.listRuns(query);
    const last = runs.length < query.limit ? undefined : runs.at(-1);
    return c.json({ runs: runs.map(runEntry), next_cursor: last === undefined ? null : cursorOf(last) });
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

export const getParked = fromSnapshot((snapshot) => ({ parked: snapshot.parked.map(parkedEntry) }));

/** Why each candidate of the last poll is not being worked on, and what keeps all of them back. */
export const getHolds = fromSnapshot((snapshot) => ({
  holds: snapshot.holds.map(holdEntry),
  preflight_problem: snapshot.preflightProblem,
  agent_pauses: snapshot.pauses.map((pause) => ({
    agent_kind: pause.agentKind,
    until: isoTime(pause.until),
    reason: pause.reason,
  })),
  last_poll: snapshot.poll.last && {
    at: isoTime(snapshot.poll.last.at),
    duration_ms: snapshot.poll.last.durationMs,
    candidates: snapshot.poll.last.candidates,
    error: snapshot.poll.last.error,
  },
  next_poll_at: isoTime(snapshot.poll.nextAt),
}));

export const getMergeRequests = fromSnapshot((snapshot) => ({ merge_requests: snapshot.watches.map(watchEntry) }));

/** A route whose whole answer is a view of the snapshot. */
function fromSnapshot(view: (snapshot: Snapshot) => object) {
  return (daemon: Daemon) =>
    (c: Context): Response => {
      const snapshot = readSnapshot(daemon);
      return snapshot === null ? noSnapshot(c) : c.json(view(snapshot));
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

/** A place in the list, in a form nobody is tempted to make up. */
export function cursorOf({ startedAt, id }: Run): string {
  return Buffer.from(`${startedAt} ${id}`).toString('base64url');
}

export function positionOf(cursor: string): { readonly startedAt: number; readonly id: string } | null {
  const [, startedAt, id] = /^(\d{1,15}) (.{1,200})$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return startedAt === undefined || id === undefined ? null : { startedAt: Number(startedAt), id };
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

function runEntry(run: Run) {
  return {
    id: run.id,
    ...issueFields(run.issue),
    attempt: run.attempt,
    trigger: run.trigger,
    agent_kind: run.agentKind,
    status: run.status,
    started_at: isoTime(run.startedAt),
    ended_at: run.endedAt === null ? null : isoTime(run.endedAt),
    turn_count: run.turns,
    session_id: run.sessionId,
    workspace_path: run.workspacePath,
    ...(run.model === null ? {} : { model_name: run.model }),
    // Null when the agent reports no figures: unknown is not zero.
    tokens: run.tokensMeasured ? tokenCounts(run.tokens) : null,
    cost_usd: run.costUsd,
    error: run.error,
  };
}

function eventEntry(event: RunEvent) {
  return { at: isoTime(event.at), type: event.type, text: event.text };
}

function parkedEntry(parked: Parked) {
  return {
    ...issueFields(parked.issue),
    reason: parked.reason,
    detail: parked.detail,
    parked_at: isoTime(parked.parkedAt),
  };
}

function holdEntry(hold: Hold) {
  return { ...issueFields(hold.issue), reason: hold.reason, detail: hold.detail, since: isoTime(hold.since) };
}

function watchEntry(watch: WatchView) {
  const { owner, repo, number, branch, sha } = watch.mergeRequest;
  const { reading } = watch;
  return {
    issue_id: watch.issue.id,
    issue_identifier: watch.issue.identifier,
    ...displayIdentifier(watch.issue.displayIdentifier),
    owner,
    repo,
    number,
    branch,
    head_sha: reading?.headSha || sha,
    watched_since: isoTime(watch.armedAt),
    last_look: reading && {
      at: isoTime(reading.at),
      url: reading.url,
      mergeability: reading.mergeability,
      review_decision: reading.decision,
      ci_status: reading.ci,
      draft: reading.draft,
      merged: reading.merged,
    },
    reactions: Object.entries(watch.reactions).map(([kind, progress]) => reactionEntry(kind, progress)),
  };
}

function reactionEntry(kind: string, progress: ReactionProgress) {
  return {
    kind,
    attempts_used: progress.used,
    escalated: progress.escalated,
    waiting_for: progress.waitingFor,
    next_check_at: isoTime(progress.nextAt),
  };
}

function issueFields(issue: IssueRef) {
  return {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    ...displayIdentifier(issue.displayIdentifier),
    title: issue.title,
    url: issue.url,
    state: issue.state,
  };
}
