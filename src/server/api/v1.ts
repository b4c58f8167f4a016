import type { Context } from 'hono';
import type { RunningView } from '../../domain/views/running-view.ts';
import { secondsRunningAt, type RetryView, type Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { failure, isoTime, sendJson, type JsonAnswer } from '../http/envelope.ts';
import type { ClientConnection } from '../events-stream.ts';
import { NO_SNAPSHOT, readSnapshot } from '../snapshot.ts';
import { displayIdentifier, retryEntry, runningEntry, tokenCounts } from './entries.ts';

export function getState(daemon: Daemon) {
  const answer = stateAnswer(daemon);
  return (c: Context<{ Bindings: ClientConnection }>): Response => sendJson(c, answer());
}

/** The entries are written down once for all who ask at the same time: a thousand sessions are a megabyte. */
export function stateAnswer(daemon: Daemon): () => JsonAnswer {
  const entryText = createEntryText();
  const kept = keptOf(daemon, (snapshot) => ({ snapshot, entries: Buffer.from(entriesText(snapshot, entryText)) }));
  return () => {
    const state = kept();
    if (state === null) return NO_SNAPSHOT;
    const [before, after] = aroundEntries(state.snapshot, daemon.clock.now());
    return { status: 200, body: [Buffer.from(before), state.entries, Buffer.from(after)] };
  };
}

export function getIssue(daemon: Daemon) {
  const answer = issueAnswer(daemon);
  return (c: Context): Response => sendJson(c, answer(c.req.param('identifier') ?? ''));
}

/** One issue as text, made once for as long as there is nothing new to say of it. */
export function issueAnswer(daemon: Daemon): (identifier: string) => JsonAnswer {
  const bodies = new WeakMap<RunningView | RetryView, FoundIssue & { readonly answer: JsonAnswer }>();
  const issues = keptOf(daemon, issueFinder);
  return (identifier) => {
    let find = issues();
    // One that has just begun is not missed.
    if (find?.(identifier) === null) find = issues('of this moment');
    if (find === null) return NO_SNAPSHOT;
    const found = find(identifier);
    const view = found?.running ?? found?.retry;
    if (!found || !view) return failure('issue_not_found', `Issue "${identifier}" is neither running nor waiting for a retry.`);
    const last = bodies.get(view);
    if (last?.running === found.running && last.retry === found.retry) return last.answer;
    const answer: JsonAnswer = { status: 200, body: JSON.stringify(issueBody(found)) };
    bodies.set(view, { ...found, answer });
    return answer;
  };
}

export function postRefresh(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const requested_at = isoTime(daemon.clock.now());
    const { queued, coalesced } = daemon.isDraining() ? REFUSED : await daemon.requestRefresh();
    // A request that merged into a pending one is as good as queued: the caller need not come again.
    if (queued || coalesced) return c.json({ queued: true, coalesced, requested_at, operations: ['poll', 'reconcile'] }, 202);
    return c.json({ ...REFUSED, requested_at, operations: [] }, 409);
  };
}

const REFUSED = { queued: false, coalesced: false };

/** What is made of a snapshot is used again while the state is the same, and for a second at most: entries contain durations. */
const KEPT_MS = 1_000;
/** What takes long to make is not made again before so many times as long have passed. */
const REST = 4;

/** What is made of the snapshot, once for all who ask at the same time; null where there is no snapshot. */
function keptOf<T>(daemon: Daemon, make: (snapshot: Snapshot) => T): (age?: 'of this moment') => T | null {
  let kept: { readonly made: T; readonly revision: unknown; readonly at: number; readonly tookMs: number } | null = null;
  const isFresh = (revision: unknown, age: number, restMs: number) =>
    kept !== null && age >= 0 && age < KEPT_MS && (revision === kept.revision || age < restMs);
  return (wanted) => {
    const begun = performance.now();
    const revision = daemon.revision();
    if (kept !== null && isFresh(revision, begun - kept.at, wanted === undefined ? REST * kept.tookMs : 0)) return kept.made;
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return null;
    const made = make(snapshot);
    const at = performance.now();
    kept = { made, revision, at, tookMs: at - begun };
    return made;
  };
}

type EntryText = (view: RunningView | RetryView) => string;

/** A view is written down once: most sessions have nothing new to say when the whole is asked for again. */
function createEntryText(): EntryText {
  const texts = new WeakMap<RunningView | RetryView, string>();
  return (view) => {
    const kept = texts.get(view);
    if (kept !== undefined) return kept;
    const text = JSON.stringify('dueAt' in view ? retryEntry(view) : runningEntry(view));
    texts.set(view, text);
    return text;
  };
}

/** Put together by hand, of the texts of its entries. */
function entriesText({ running, retrying }: Snapshot, entryText: EntryText): string {
  const listText = (views: readonly (RunningView | RetryView)[]) => `[${views.map(entryText).join(',')}]`;
  return `"running":${listText(running)},"retrying":${listText(retrying)}`;
}

/** What stands before and after the entries, as of now. */
function aroundEntries(snapshot: Snapshot, now: number): readonly [before: string, after: string] {
  const { running, retrying, totals } = snapshot;
  const head = { generated_at: isoTime(now), counts: { running: running.length, retrying: retrying.length } };
  const seconds_running = secondsRunningAt(now, snapshot);
  const rest = { agent_totals: { ...tokenCounts(totals.tokens), seconds_running }, rate_limits: {} };
  return [`${JSON.stringify(head).slice(0, -1)},`, `,${JSON.stringify(rest).slice(1)}`];
}

interface FoundIssue {
  readonly running: RunningView | null;
  readonly retry: RetryView | null;
}

type FindIssue = (identifier: string) => FoundIssue | null;

/** By its own spelling alone: one that differs in case may be another issue, which has finished. Of several entries of one name the first counts. */
function issueFinder({ running, retrying }: Snapshot): FindIssue {
  const found = new Map<string, { running: RunningView | null; retry: RetryView | null }>();
  const of = (identifier: string) => {
    const issue = found.get(identifier) ?? { running: null, retry: null };
    found.set(identifier, issue);
    return issue;
  };
  for (const entry of running) of(entry.issueIdentifier).running ??= entry;
  for (const entry of retrying) of(entry.issueIdentifier).retry ??= entry;
  return (identifier) => found.get(identifier) ?? null;
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
