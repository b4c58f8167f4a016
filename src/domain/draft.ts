import { holdsSlot } from './model/claim.ts';
import type { AgentPause, Approval, Claim, OutboxEntry, Parked, TrackerWrite, WaitingClaim } from './model/claim.ts';
import type { Write } from './model/durable.ts';
import type { AskedEffect, Decision, Effect } from './model/effect.ts';
import { stateIn, type IssueRef } from './model/issue.ts';
import type { Notices, NoticeName } from './model/notice.ts';
import type { Told } from './model/notification.ts';
import type { OperatorAnswer, OperatorPause } from './model/operator.ts';
import type { Run, RunEvent, Spent } from './model/run.ts';
import type { PollState } from './model/poll.ts';
import type { Live, State, Totals } from './model/state.ts';
import { withEntry, withoutEntry } from './model/versioned-map.ts';
import type { Watch } from './model/watch.ts';

/**
 * One decision in the making. Durable parts are changed only by the functions here and in draft-workspaces.ts, each of
 * which records the write beside the change: so memory and store cannot drift apart.
 */
export interface Draft {
  state: State;
  readonly now: number;
  readonly writes: Write[];
  readonly effects: Effect[];
}

export function openDraft(state: State, now: number): Draft {
  return { state, now, writes: [], effects: [] };
}

export function closeDraft(draft: Draft): Decision {
  return { state: draft.state, writes: draft.writes, effects: draft.effects };
}

export function announce<Name extends NoticeName>(draft: Draft, name: Name, facts: Notices[Name]): void {
  draft.effects.push({ do: 'announce', notice: { name, facts } as Extract<Effect, { do: 'announce' }>['notice'] });
}

/** Tells the interpreters to do something that has no answer of its own. */
export function order(draft: Draft, effect: Exclude<Effect, AskedEffect>): void {
  draft.effects.push(effect);
}

export function putClaim(draft: Draft, wanted: Claim): void {
  const claim = afterItsEnd(draft.state, wanted);
  countSlots(draft, claim.issue.id, claim);
  if (claim.phase === 'waiting' && claim.dueAt < draft.state.retriesFrom) change(draft, { retriesFrom: claim.dueAt });
  change(draft, { claims: withEntry(draft.state.claims, claim.issue.id, claim) });
  draft.writes.push({ write: 'claim', claim });
}

/** No run falls due while the last one of its issue may go on elsewhere. */
function afterItsEnd({ endingElsewhere }: State, claim: Claim): Claim {
  if (claim.phase !== 'waiting' || claim.then.kind !== 'run') return claim;
  const until = endingElsewhere.get(claim.issue.id);
  return until !== undefined && claim.dueAt < until ? { ...claim, dueAt: until } : claim;
}

/** Puts a claim into the retry queue: the one place where a waiting claim is made. */
export function putWaiting(draft: Draft, waiting: Waiting): void {
  const { delayMs, awaitsEdit = false, ...claim } = waiting;
  putClaim(draft, { ...claim, phase: 'waiting', since: draft.now, dueAt: draft.now + delayMs });
  noteAwaitingEdit(draft, claim.issue.id, awaitsEdit);
}

type Waiting = Omit<WaitingClaim, 'phase' | 'since' | 'dueAt'> & {
  readonly delayMs: number;
  /** Nothing but an edit of the workflow file, or of what it names, heals what it waits for. */
  readonly awaitsEdit?: boolean;
};

function noteAwaitingEdit(draft: Draft, issueId: string, awaits: boolean): void {
  const { awaitingEdit } = draft.state;
  if (awaitingEdit.has(issueId) === awaits) return;
  change(draft, { awaitingEdit: awaits ? withEntry(awaitingEdit, issueId, true) : withoutEntry(awaitingEdit, issueId) });
}

/** Ends the claim of an issue, which comes with the state that is known of it by now. */
export function release(draft: Draft, issue: IssueRef, reason: string): void {
  countSlots(draft, issue.id, undefined);
  const { claims, runSettings, judgedUnder } = draft.state;
  change(draft, {
    claims: withoutEntry(claims, issue.id),
    runSettings: withoutEntry(runSettings, issue.id),
    judgedUnder: withoutEntry(judgedUnder, issue.id),
  });
  noteAwaitingEdit(draft, issue.id, false);
  outdatePoll(draft, issue.id);
  forgetHold(draft, issue.id, issue.state);
  draft.writes.push({ write: 'release', issueId: issue.id });
  announce(draft, 'issue:claim:released', { issue, reason });
}

/** What the poll under way says of the issue may be older than what happens to it now. */
export function outdatePoll(draft: Draft, issueId: string): void {
  const { inFlight } = draft.state.poll;
  if (inFlight)
    changePoll(draft, { inFlight: { ...inFlight, releasedMeanwhile: new Set(inFlight.releasedMeanwhile).add(issueId) } });
}

/** An issue that its state makes no candidate is held by nothing, whatever the last poll saw, or the one under way has read. */
export function forgetHold(draft: Draft, issueId: string, state: string): void {
  const { holds, poll, settings } = draft.state;
  if (stateIn(settings.tracker.activeStates, state) && !stateIn(settings.tracker.terminalStates, state)) return;
  change(draft, { holds: withoutEntry(holds, issueId) });
  const { inFlight } = poll;
  if (inFlight) changePoll(draft, { inFlight: { ...inFlight, left: new Set(inFlight.left).add(issueId) } });
}

function countSlots(draft: Draft, issueId: string, next: Claim | undefined): void {
  const change = Number(holdsSlot(next)) - Number(holdsSlot(draft.state.claims.get(issueId)));
  if (change !== 0) draft.state = { ...draft.state, occupied: draft.state.occupied + change };
}

export function putParked(draft: Draft, parked: Parked): void {
  change(draft, { parked: withEntry(draft.state.parked, parked.issue.id, parked) });
  draft.writes.push({ write: 'park', parked });
}

export function dropParked(draft: Draft, issueId: string): void {
  change(draft, { parked: withoutEntry(draft.state.parked, issueId) });
  draft.writes.push({ write: 'unpark', issueId });
}

export function putSpent(draft: Draft, spent: Spent): void {
  change(draft, { spent: withEntry(draft.state.spent, spent.issueId, spent) });
  draft.writes.push({ write: 'spent', spent });
}

export function putRun(draft: Draft, run: Run): void {
  draft.writes.push({ write: 'run', run });
}

export function putRunEvents(draft: Draft, events: readonly RunEvent[], maxBytes: number): void {
  if (events.length > 0) draft.writes.push({ write: 'run-events', events, maxBytes });
}

/** Of the runs that the last daemon left, none goes on. */
export function interruptRuns(draft: Draft): void {
  draft.writes.push({ write: 'interrupt-runs', at: draft.now });
}

/** Queues a comment or label for the tracker. The id is derived, so that deciding twice queues once. */
export function queueWrite(draft: Draft, issue: IssueRef, id: string, write: TrackerWrite): void {
  const { outbox, runSettings, writeSettings } = draft.state;
  if (outbox.has(id)) return;
  const own = runSettings.get(issue.id);
  if (own) change(draft, { writeSettings: withEntry(writeSettings, id, own) });
  putOutbox(draft, { id, issue, write, tries: 0, dueAt: draft.now });
}

export function putOutbox(draft: Draft, entry: OutboxEntry): void {
  change(draft, { outbox: withEntry(draft.state.outbox, entry.id, entry) });
  draft.writes.push({ write: 'outbox', entry });
}

export function dropOutbox(draft: Draft, id: string): void {
  const { outbox, writeSettings } = draft.state;
  change(draft, { outbox: withoutEntry(outbox, id), writeSettings: withoutEntry(writeSettings, id) });
  draft.writes.push({ write: 'outbox-done', id });
}

export function putPause(draft: Draft, pause: AgentPause): void {
  change(draft, { pauses: withEntry(draft.state.pauses, pause.agentKind, pause) });
  draft.writes.push({ write: 'pause', pause });
}

export function dropPause(draft: Draft, agentKind: string): void {
  change(draft, { pauses: withoutEntry(draft.state.pauses, agentKind) });
  draft.writes.push({ write: 'resume', agentKind });
  announce(draft, 'agent:kind:resumed', { agentKind });
}

export function putWatch(draft: Draft, watch: Watch): void {
  change(draft, { watches: withEntry(draft.state.watches, watch.issue.id, watch) });
  draft.writes.push({ write: 'watch', watch });
}

export function dropWatch(draft: Draft, issueId: string): void {
  if (!draft.state.watches.has(issueId)) return;
  change(draft, {
    watches: withoutEntry(draft.state.watches, issueId),
    readings: withoutEntry(draft.state.readings, issueId),
    changedSinceLook: withoutEntry(draft.state.changedSinceLook, issueId),
    unreadable: withoutEntry(draft.state.unreadable, issueId),
  });
  draft.writes.push({ write: 'unwatch', issueId });
}

export function putApproval(draft: Draft, approval: Approval): void {
  change(draft, { approvals: withEntry(draft.state.approvals, approval.issueId, approval) });
  draft.writes.push({ write: 'approve', approval });
}

export function dropApproval(draft: Draft, issueId: string): void {
  if (!draft.state.approvals.has(issueId)) return;
  change(draft, { approvals: withoutEntry(draft.state.approvals, issueId) });
  draft.writes.push({ write: 'unapprove', issueId });
}

export function putOperatorPause(draft: Draft, pause: OperatorPause | null): void {
  change(draft, { operatorPause: pause });
  draft.writes.push({ write: 'operator-pause', pause });
}

export function putTold(draft: Draft, told: Told): void {
  change(draft, { told: withEntry(draft.state.told, told.subject, told) });
  draft.writes.push({ write: 'told', told });
}

export function dropTold(draft: Draft, subject: Told['subject']): void {
  change(draft, { told: withoutEntry(draft.state.told, subject) });
  draft.writes.push({ write: 'told-over', subject });
}

/** What a person is told; stored with whatever the request changed. */
export function answerRequest(draft: Draft, requestId: string, answer: OperatorAnswer): void {
  draft.writes.push({ write: 'answer', requestId, answer, at: draft.now });
}

export function putLive(draft: Draft, live: Live): void {
  change(draft, { live: withEntry(draft.state.live, live.issue.id, live) });
}

export function dropLive(draft: Draft, issueId: string): void {
  change(draft, { live: withoutEntry(draft.state.live, issueId) });
}

/** A session that ended stays visible while its issue is handed off. */
export function putDeparted(draft: Draft, live: Live): void {
  change(draft, { departed: withEntry(draft.state.departed, live.issue.id, live) });
}

export function dropDeparted(draft: Draft, issueId: string): void {
  change(draft, { departed: withoutEntry(draft.state.departed, issueId) });
}

export function changePoll(draft: Draft, poll: Partial<PollState>): void {
  change(draft, { poll: { ...draft.state.poll, ...poll } });
}

export function changeTotals(draft: Draft, totals: Totals): void {
  change(draft, { totals });
}

export function change(draft: Draft, part: Partial<State>): void {
  draft.state = { ...draft.state, ...part };
}
