import type { Context } from 'hono';
import type { RunningView } from '../../domain/views/running-view.ts';
import type { RetryView, Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { fail, isoTime } from '../envelope.ts';
import type { ClientConnection } from '../events-stream.ts';
import { displayIdentifier, retryEntry, runningEntry, tokenCounts } from './entries.ts';

/** An answer is sent again while the state is the same, and for a second at most: it contains durations. */
const STATE_KEPT_MS = 1_000;
/** What takes long to write down is not written again before so many times as long have passed. */
const STATE_REST = 4;

/** The state as one text, made once for all who ask at the same time: a thousand sessions are a megabyte. */
export function getState(daemon: Daemon) {
  let kept: { readonly body: Uint8Array; readonly revision: unknown; readonly at: number; readonly tookMs: number } | null = null;
  const isFresh = (revision: unknown, age: number) =>
    kept !== null && age >= 0 && age < STATE_KEPT_MS && (revision === kept.revision || age < STATE_REST * kept.tookMs);
  return (c: Context<{ Bindings: ClientConnection }>): Response => {
    const begun = performance.now();
    const revision = daemon.revision();
    if (kept === null || !isFresh(revision, begun - kept.at)) {
      const snapshot = readSnapshot(daemon);
      if (snapshot === null) return noSnapshot(c);
      const body = new TextEncoder().encode(JSON.stringify(stateBody(snapshot)));
      kept = { body, revision, at: performance.now(), tookMs: performance.now() - begun };
    }
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(kept.body.byteLength) };
    if (c.env?.outgoing === undefined) return c.body(kept.body as Uint8Array<ArrayBuffer>, 200, headers);
    c.env.bytes = kept.body;
    return c.body(null, 200, headers);
  };
}

export function getIssue(daemon: Daemon) {
  return (c: Context): Response => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return noSnapshot(c);
    const identifier = c.req.param('identifier') ?? '';
    const found = findIssue(snapshot, identifier);
    if (found === null) return fail(c, 'issue_not_found', `Issue "${identifier}" is neither running nor waiting for a retry.`);
    return c.json(issueBody(found));
  };
}

export function postRefresh(daemon: Daemon) {
  return (c: Context): Response => {
    const requested_at = isoTime(daemon.clock.now());
    const { queued, coalesced } = daemon.isDraining() ? REFUSED : daemon.requestRefresh();
    // A request that merged into a pending one is as good as queued: the caller need not come again.
    if (queued || coalesced) return c.json({ queued: true, coalesced, requested_at, operations: ['poll', 'reconcile'] }, 202);
    return c.json({ ...REFUSED, requested_at, operations: [] }, 409);
  };
}

const REFUSED = { queued: false, coalesced: false };

/** A snapshot that fails to be made is one that is not there. */
export function readSnapshot(daemon: Daemon): Snapshot | null {
  try {
    return daemon.snapshot();
  } catch (error) {
    daemon.logger.error('snapshot failed', { error: String(error) });
    return null;
  }
}

export function noSnapshot(c: Context): Response {
  return fail(c, 'snapshot_unavailable', 'The state of the service could not be read. Try again in a moment.');
}

function stateBody(snapshot: Snapshot) {
  return {
    generated_at: isoTime(snapshot.generatedAt),
    counts: { running: snapshot.running.length, retrying: snapshot.retrying.length },
    running: snapshot.running.map(runningEntry),
    retrying: snapshot.retrying.map(retryEntry),
    agent_totals: { ...tokenCounts(snapshot.totals.tokens), seconds_running: snapshot.totals.secondsRunning },
    rate_limits: {},
  };
}

interface FoundIssue {
  readonly running: RunningView | null;
  readonly retry: RetryView | null;
}

/** The exact spelling wins; otherwise case does not matter. */
function findIssue(snapshot: Snapshot, identifier: string): FoundIssue | null {
  const lowered = identifier.toLowerCase();
  return (
    findBy(snapshot, (candidate) => candidate === identifier) ??
    findBy(snapshot, (candidate) => candidate.toLowerCase() === lowered)
  );
}

function findBy(snapshot: Snapshot, matches: (identifier: string) => boolean): FoundIssue | null {
  const running = snapshot.running.find((entry) => matches(entry.issueIdentifier)) ?? null;
  const retry = snapshot.retrying.find((entry) => matches(entry.issueIdentifier)) ?? null;
  return running === null && retry === null ? null : { running, retry };
}

function issueBody({ running, retry }: FoundIssue) {
  const entry = running ?? retry;
  const attempt = entry?.attempt ?? 0;
  return {
    issue_identifier: entry?.issueIdentifier,
    ...displayIdentifier(entry?.displayIdentifier),
    issue_id: entry?.issueId,
    status: running === null ? 'retrying' : 'running',
    workspace: running === null || running.workspacePath === '' ? null : { path: running.workspacePath },
    attempts: { restart_count: Math.max(0, attempt - 1), current_retry_attempt: attempt },
    running: running && runningEntry(running),
    retry: retry && retryEntry(retry),
    recent_events: [],
    last_error: retry?.error || null,
    tracked: {},
  };
}
