import { stopperOf, type AgentPause, type Claim, type Parked, type RunningClaim } from '../model/claim.ts';
import { announce, answerRequest, putClaim, putOperatorPause, putWatch, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import type { IssueRef } from '../model/issue.ts';
import { byName, issueArgument } from '../model/issue-name.ts';
import type { IssueRequestKind, OperatorAnswer, OperatorRequest } from '../model/operator.ts';
import type { State } from '../model/state.ts';
import { isEscalated, type Watch } from '../model/watch.ts';
import { lookNow } from '../reactions/look-sooner.ts';
import { dropTurn, leaveTurn } from '../reactions/queued-turn.ts';
import { endingHold, presentHold, type Moment } from '../rules/eligibility.ts';
import { liftPause, pauseOf } from './agent-pauses.ts';
import { stopRun } from './on-issue-states.ts';
import { park, unpark } from './parking.ts';
import { pollAgain } from './poll-stages.ts';
import { giveBudgetsBack } from './watching.ts';

/** A person asked for something. The answer is stored together with what it changed, so that neither comes alone. */
export function onOperatorAsked(draft: Draft, event: Extract<Event, { type: 'operator-asked' }>): void {
  const { id, request, by, hasRuns } = event.asked;
  const answer = carryOut(draft, request, by, hasRuns);
  answerRequest(draft, id, answer);
  announce(draft, 'operator:request:answered', { id, request, by, answer });
}

function carryOut(draft: Draft, request: OperatorRequest, by: string, hasRuns: boolean): OperatorAnswer {
  if (draft.state.lifecycle === 'draining') return refused('the service is stopping: ask again when it has started');
  if (request.kind === 'pause') return pause(draft, request.reason, by);
  if (request.kind === 'resume') return resume(draft);
  const found = findIssue(draft.state, request.identifier);
  if (found === null) return notFound(request.identifier, hasRuns, request.kind);
  return ISSUE_REQUESTS[request.kind](draft, found, by);
}

/** Repeating it is no mistake: the reason of the last one counts. */
function pause(draft: Draft, reason: string, by: string): OperatorAnswer {
  putOperatorPause(draft, { reason, by, since: draft.state.operatorPause?.since ?? draft.now });
  return taken('nothing new is dispatched until "foray resume"; sessions that run go on');
}

function resume(draft: Draft): OperatorAnswer {
  if (draft.state.operatorPause === null) return refused('the service is not paused');
  putOperatorPause(draft, null);
  pollAgain(draft, draft.now);
  return taken('issues are dispatched again');
}

const ISSUE_REQUESTS: Readonly<Record<IssueRequestKind, (draft: Draft, found: Found, by: string) => OperatorAnswer>> = {
  stop,
  retry,
  unpark: letGo,
};

/** Ends the session and parks the issue; one that only waits for its next session is parked at once. */
function stop(draft: Draft, { issue, claim, parked }: Found, by: string): OperatorAnswer {
  const name = issue.identifier;
  if (parked !== null) return refused(`${name} is already parked (${parked.reason})`);
  if (claim === null) return refused(`${name} is not running`);
  if (claim.phase === 'handing-off') return refused(`the session of ${name} has ended and it is being handed off`);
  const release = `"foray unpark ${issueArgument(name)}" lets it run again`;
  if (claim.phase === 'waiting') {
    park(draft, claim.issue, 'stopped_by_operator', stoppedBy(by));
    dropTurn(draft, claim, 'parked: stopped_by_operator');
    return taken(`${name} is parked; ${release}`);
  }
  if (claim.stoppedBy === null) putClaim(draft, { ...claim, stoppedBy: by });
  stopRun(draft, issue.id, 'operator');
  return taken(`the session of ${name} is being ended and the issue is parked; ${release}`);
}

/** For people: why the issue is parked. */
export function stoppedBy(by: string): string {
  return `stopped by an operator (${by})`;
}

/** What a session that a person ended leaves behind when the service died before it could say so. */
export function parkStopped(draft: Draft, claim: RunningClaim & { readonly stoppedBy: string }): void {
  park(draft, claim.issue, 'stopped_by_operator', stoppedBy(claim.stoppedBy));
  leaveTurn(draft, claim);
}

/** A waiting issue is due now, whatever limit its agent met before; a parked one is released, which is the same. */
function retry(draft: Draft, found: Found, by: string): OperatorAnswer {
  const { issue, claim, parked } = found;
  const name = issue.identifier;
  if (parked !== null || isAsking(found.watch)) return letGo(draft, found, by);
  const pause = pauseOf(draft.state, claim);
  if (claim === null) {
    if (pause === null || !isPausedCandidate(draft, issue)) return refused(`${name} is neither waiting nor parked`);
    pollAgain(draft, draft.now);
    return taken(`${name} is looked at now${lifted(draft, pause)}${reserve(draft, issue)}`);
  }
  if (claim.phase === 'handing-off') return refused(`${name} is being handed off`);
  if (claim.phase === 'running') return beingEnded(draft, claim) ?? leftRunning(draft, claim) ?? refused(`${name} is running`);
  putClaim(draft, { ...claim, dueAt: Math.min(claim.dueAt, draft.now) });
  // Nothing that keeps sessions back keeps it back.
  if (claim.then.kind === 'handoff') return taken(`the handoff of ${name} is due now; no session is needed for it`);
  return taken(`${name} is due now${lifted(draft, pause)}${reserve(draft, issue)}`);
}

/** It is parked when its session is over, and can be let go on from then. */
function beingEnded({ state }: Draft, claim: Claim | null): OperatorAnswer | null {
  const by = stopperOf(claim ?? undefined);
  if (claim === null || by === null) return null;
  const session = `the session of ${claim.issue.identifier}`;
  return state.live.has(claim.issue.id)
    ? refused(`${session} is still being ended (${by} stopped it): ask again when it is over`)
    : refused(`${session} was being ended when the service ended (${by} stopped it): ask again when the service runs`);
}

/** What a service that was killed left: it goes on at the next start without being asked to. */
function leftRunning(draft: Draft, { issue }: RunningClaim): OperatorAnswer | null {
  if (draft.state.live.has(issue.id)) return null;
  const name = issue.identifier;
  return taken(`${name} was running when the service ended: it is due as soon as the service starts${reserve(draft, issue)}`);
}

/** Who asks knows better than the limit that was met: a plan was raised, or another account is used. The next one pauses anew. */
function lifted(draft: Draft, pause: AgentPause | null): string {
  if (pause === null) return '';
  liftPause(draft, pause);
  return `, and the agent ${pause.agentKind} is no longer paused (it was until ${timeText(pause)})`;
}

/** Whether the limit of its agent is all that keeps a candidate back. */
function isPausedCandidate(draft: Draft, { id }: IssueRef): boolean {
  const held = draft.state.holds.get(id);
  return held !== undefined && presentHold(draft, held).reason === 'agent_paused';
}

/** Releases the issue with its budgets fresh, gives reactions that asked for a person another try, and has all of them look now. */
function letGo(draft: Draft, { issue, claim, parked, watch }: Found, _by: string): OperatorAnswer {
  const name = issue.identifier;
  if (parked === null && !isAsking(watch)) return beingEnded(draft, claim) ?? refused(`${name} is not parked`);
  if (parked !== null) unpark(draft, parked, 'released by an operator');
  if (watch !== null) {
    const again = isAsking(watch) ? giveBudgetsBack(watch, draft.now) : watch;
    if (again !== watch) putWatch(draft, again);
    lookNow(draft, again);
  }
  pollAgain(draft, draft.now);
  return taken(`${name} is released${reserve(draft, issue)}`);
}

/** What still stands in the way of a session. */
function reserve(moment: Moment, { id, identifier }: IssueRef): string {
  const { state } = moment;
  const ending = endingHold(moment, id);
  if (ending !== null) return `, but ${ending.detail}, so it does not start before`;
  if (state.operatorPause !== null) return ', but the service is paused: "foray resume" lets it run';
  const agentPause = state.pauses.get(state.settings.agent.kind);
  if (agentPause === undefined) return '';
  return `, but the agent is paused until ${timeText(agentPause)}: "foray retry ${issueArgument(identifier)}" lets it try now`;
}

function timeText({ until }: AgentPause): string {
  return new Date(until).toISOString();
}

/** What we hold of one issue. */
interface Found {
  readonly issue: IssueRef;
  readonly claim: Claim | null;
  readonly parked: Parked | null;
  readonly watch: Watch | null;
}

/** Whether something is stored of an issue of this name. */
export function hasRecordOf(state: State, name: string): boolean {
  return named(name, [state.claims, state.parked, state.watches]) !== undefined;
}

/** Whether a session runs for an issue of this name. */
export function isRunning(state: State, name: string): boolean {
  return named(name, [state.live]) !== undefined;
}

function named(name: string, maps: readonly ReadonlyMap<string, { readonly issue: IssueRef }>[]): IssueRef | undefined {
  return byName(name, (isMeant) => firstIssue(maps, isMeant));
}

function firstIssue(
  maps: readonly ReadonlyMap<string, { readonly issue: IssueRef }>[],
  isMeant: (issue: IssueRef) => boolean,
): IssueRef | undefined {
  for (const map of maps) {
    for (const { issue } of map.values()) if (isMeant(issue)) return issue;
  }
  return undefined;
}

function findIssue(state: State, name: string): Found | null {
  const issue = named(name, [state.claims, state.parked, state.watches, state.holds]);
  if (issue === undefined) return null;
  const { id } = issue;
  return {
    issue,
    claim: state.claims.get(id) ?? null,
    parked: state.parked.get(id) ?? null,
    watch: state.watches.get(id) ?? null,
  };
}

function isAsking(watch: Watch | null): boolean {
  return watch !== null && isEscalated(watch);
}

const WRONG_PLACE: Readonly<Record<IssueRequestKind, string>> = {
  stop: 'is not running',
  retry: 'is neither waiting nor parked',
  unpark: 'is not parked',
};

function notFound(identifier: string, hasRuns: boolean, kind: IssueRequestKind): OperatorAnswer {
  if (hasRuns) return refused(`${identifier} ${WRONG_PLACE[kind]}`);
  return { outcome: 'unknown', message: `${identifier} is not an issue this service knows` };
}

function taken(message: string): OperatorAnswer {
  return { outcome: 'taken', message };
}

function refused(message: string): OperatorAnswer {
  return { outcome: 'refused', message };
}
