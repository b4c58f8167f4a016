import { ask, settle } from '../pending-effects.ts';
import { announce, changePoll, dropWatch, forgetHold, type Draft } from '../draft.ts';
import { dropWorkspace } from '../draft-workspaces.ts';
import { removeWorkspaceOf, workspacesOf } from '../workspace-records.ts';
import type { Event } from '../model/event.ts';
import { stateIn, type IssueRef } from '../model/issue.ts';
import type { WorkspaceRecord } from '../model/claim.ts';
import { hasWorkAfterMerge } from '../reactions/after-merge.ts';
import { releaseGone, releaseWaiting } from '../reactions/queued-turn.ts';
import type { State } from '../model/state.ts';
import { unpark } from './parking.ts';

/** Every so many polls the workspaces still on disk are held against the tracker. */
const SWEEP_EVERY_POLLS = 10;
/** At most this many issues are looked up in one sweep. */
const SWEEP_SIZE = 50;
/** A failed cleanup read at start is tried again after this. */
const CLEANUP_RETRY_MS = 60_000;
const DAY_MS = 86_400_000;

/** At start: fetch what is already terminal. */
export function cleanupIfDue(draft: Draft): void {
  const { cleanupAt } = draft.state.poll;
  if (cleanupAt === null || cleanupAt > draft.now) return;
  const states = draft.state.settings.tracker.terminalStates;
  changePoll(draft, { cleanupAt: null });
  if (states.length > 0) ask(draft, { do: 'read-terminal', states, workspaces: [...draft.state.workspaces.values()] });
}

export function onCleanupAnswered(draft: Draft, event: Extract<Event, { type: 'cleanup-answered' }>): void {
  settle(draft, 'read-terminal', '');
  if (!event.issues.ok) {
    const { kind, message: error } = event.issues.fault;
    const what = kind === 'workspace_error' ? 'cleanup:root:failed' : 'cleanup:read:failed';
    announce(draft, what, { error, retryInMs: CLEANUP_RETRY_MS });
    changePoll(draft, { cleanupAt: draft.now + CLEANUP_RETRY_MS });
    return;
  }
  for (const issue of event.issues.value) onTerminal(draft, issue, issue.state);
}

/** Now and then: look up the issues whose workspaces are still here and those that wait, and let old workspaces go. */
export function sweepIfDue(draft: Draft): void {
  if (draft.state.poll.count === 0 || draft.state.poll.count % SWEEP_EVERY_POLLS !== 0) return;
  const idle = idleWorkspaces(draft.state);
  for (const workspace of idle.filter((candidate) => isExpired(draft.state, candidate, draft.now))) {
    removeWorkspaceOf(
      draft,
      { id: workspace.issueId, identifier: workspace.identifier, title: workspace.title },
      'retention_days passed',
    );
  }
  const batch = nextBatch(idle, draft.state.poll.sweepAfter);
  const waiting = lastDue(draft.state);
  if (batch.length === 0 && waiting.length === 0) return;
  const asked = ask(draft, { do: 'sweep', workspaces: batch.map(({ issueId, path }) => ({ issueId, path })), waiting });
  if (asked && batch.length > 0) changePoll(draft, { sweepAfter: batch.at(-1)?.path ?? '' });
}

export function onSweepAnswered(draft: Draft, event: Extract<Event, { type: 'sweep-answered' }>): void {
  settle(draft, 'sweep', '');
  for (const path of event.missing) dropWorkspace(draft, path);
  if (!event.states.ok) return changePoll(draft, { unseenWaiting: new Set() });
  sweepWaiting(draft, event.waiting, event.states.value);
  for (const [issueId, state] of event.states.value) {
    const [workspace] = workspacesOf(draft.state, issueId);
    if (workspace === undefined || !isIdle(draft.state, issueId)) continue;
    if (!stateIn(draft.state.settings.tracker.terminalStates, state)) continue;
    onTerminal(draft, { id: issueId, identifier: workspace.identifier, title: workspace.title }, state);
  }
}

/** What waits for its next try has nothing to wait for once it is finished, or when two sweeps in a row did not find it. */
function sweepWaiting(draft: Draft, asked: readonly string[], states: ReadonlyMap<string, string>): void {
  const { unseenWaiting, last } = draft.state.poll;
  const unseen = new Set<string>();
  for (const id of asked) {
    const claim = draft.state.claims.get(id);
    if (claim?.phase !== 'waiting') continue;
    const state = states.get(id) ?? '';
    if (stateIn(draft.state.settings.tracker.terminalStates, state)) onTerminal(draft, claim.issue, state);
    else if (state === '' && unseenWaiting.has(id)) releaseGone(draft, claim);
    // While polls fail, such as for a token that lost its access, that an issue is not found says nothing of it.
    else if (state === '' && last?.error == null) unseen.add(id);
  }
  changePoll(draft, { unseenWaiting: unseen });
}

type Removed = Extract<Event, { type: 'workspace-removed' }>;

export function onWorkspaceRemoved(draft: Draft, event: Removed): void {
  settle(draft, 'remove-workspace', event.issueId);
  const { issueId, identifier, path } = event;
  if (!event.outcome.ok) return tellKept(draft, event, event.outcome.fault.message);
  rememberKept(draft, issueId, null);
  for (const record of workspacesOf(draft.state, issueId)) dropWorkspace(draft, record.path);
  if (event.aside !== null)
    announce(draft, 'workspace:directory:aside', { issueId, identifier, workspace: path, aside: event.aside });
  else if (event.outcome.value)
    announce(draft, 'workspace:directory:removed', { issueId, identifier, workspace: path, why: event.why });
}

/** Every sweep tries again: told is what is new. */
function tellKept(
  draft: Draft,
  { issueId, identifier, path }: Pick<Removed, 'issueId' | 'identifier' | 'path'>,
  error: string,
): void {
  if (draft.state.poll.keptTold.get(issueId) === error) return;
  rememberKept(draft, issueId, error);
  const workspace = path || (workspacesOf(draft.state, issueId)[0]?.path ?? '');
  announce(draft, 'workspace:directory:kept', { issueId, identifier, workspace, error });
}

function rememberKept(draft: Draft, issueId: string, error: string | null): void {
  const { keptTold } = draft.state.poll;
  const others = [...keptTold].filter(([id]) => id !== issueId);
  if (error !== null || others.length < keptTold.size)
    changePoll(draft, { keptTold: new Map(error === null ? others : [...others, [issueId, error]]) });
}

/** A terminal issue that waits or is parked has nothing left to wait for; one that runs is stopped by the next poll. */
function onTerminal(draft: Draft, issue: Pick<IssueRef, 'id' | 'identifier' | 'title'>, state: string): void {
  const claim = draft.state.claims.get(issue.id);
  if (claim?.phase === 'waiting') releaseWaiting(draft, claim, 'the issue is terminal');
  forgetHold(draft, issue.id, state);
  const parked = draft.state.parked.get(issue.id);
  if (parked) unpark(draft, parked, 'the issue is terminal');
  const watch = draft.state.watches.get(issue.id);
  if (watch && !hasWorkAfterMerge(draft.state, watch, state)) dropWatch(draft, issue.id);
  removeWorkspaceOf(draft, issue, 'the issue is terminal');
}

/** Workspaces of issues we neither work on, nor wait with, nor keep for a person. */
function idleWorkspaces(state: State): readonly WorkspaceRecord[] {
  return [...state.workspaces.values()].filter(({ issueId }) => isIdle(state, issueId));
}

function isIdle(state: State, issueId: string): boolean {
  return !state.claims.has(issueId) && !state.parked.has(issueId);
}

/** Those of the waiting that are looked at last by themselves. */
function lastDue(state: State): readonly string[] {
  if (state.claims.size === state.occupied) return [];
  const waiting = [...state.claims.values()].filter((claim) => claim.phase === 'waiting');
  return waiting
    .toSorted((a, b) => b.dueAt - a.dueAt)
    .slice(0, SWEEP_SIZE)
    .map(({ issue }) => issue.id);
}

/** Goes round by path: the batch after the last one, from the start again when that is the end. */
function nextBatch(idle: readonly WorkspaceRecord[], after: string): readonly WorkspaceRecord[] {
  const rest = idle.filter((workspace) => workspace.path > after);
  return firstByPath(rest.length > 0 ? rest : idle, SWEEP_SIZE);
}

/** Without sorting all of them: there may be very many. */
function firstByPath(workspaces: readonly WorkspaceRecord[], size: number): readonly WorkspaceRecord[] {
  let first: WorkspaceRecord[] = [];
  let bound: string | undefined;
  for (const workspace of workspaces) {
    if (bound !== undefined && workspace.path > bound) continue;
    first.push(workspace);
    if (first.length < 2 * size) continue;
    first = inPathOrder(first).slice(0, size);
    bound = first.at(-1)?.path;
  }
  return inPathOrder(first).slice(0, size);
}

function inPathOrder(workspaces: readonly WorkspaceRecord[]): WorkspaceRecord[] {
  return workspaces.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function isExpired(state: State, workspace: WorkspaceRecord, now: number): boolean {
  const { retentionDays } = state.settings.workspace;
  if (retentionDays <= 0 || state.watches.has(workspace.issueId)) return false;
  return now - workspace.lastUsedAt > retentionDays * DAY_MS;
}
