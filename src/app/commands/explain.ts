import type { Claim, Parked, WaitingClaim } from '../../domain/model/claim.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { refIn, sameState, stateIn, type IssueRef } from '../../domain/model/issue.ts';
import { byName, isNamed, numberIn } from '../../domain/model/issue-name.ts';
import type { Durable } from '../../domain/model/durable.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { State } from '../../domain/model/state.ts';
import type { Watch } from '../../domain/model/watch.ts';
import { claimHold, stopText } from '../../domain/rules/eligibility.ts';
import { isSlotTaken } from '../../domain/rules/slots.ts';
import type { HoldVerdict } from '../../domain/model/hold.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { isStop, type Trouble } from '../pages/chronicle.ts';
import { entry, type Explanation, type Reason, type Times } from './explanation.ts';
import { recordedState, type RecordedAround } from './recorded-state.ts';
import { statesNow, surveyBoard, type Survey, type SurveyDeps, type SurveyedIssue } from './survey.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** What is asked for, and of whom. */
export interface Asked {
  /** Null for every issue that is known. */
  readonly identifier: string | null;
  /** What keeps the service at work back, by its own word; null where none is at work. */
  readonly troubles: readonly Trouble[] | null;
}

/** Explains one issue, or every one that is known. */
export async function explainBoard(
  workflow: GoodWorkflow,
  deps: SurveyDeps,
  { identifier, troubles }: Asked,
  signal: AbortSignal,
): Promise<readonly Explanation[]> {
  const isAskedAbout = (issue: IssueRef): boolean => identifier !== null && isNamed(issue, identifier);
  const told = troubles === null ? {} : toldBy(troubles);
  const { candidates, state, tracker, waitOf } = await surveyBoard(workflow, deps, signal, { isAskedAbout, ...told });
  const held = othersIn(state.watches.values(), state.parked.values(), state.claims.values());
  for (const { issue } of candidates) held.delete(issue.id);
  const others = [...held.values()].filter(({ issue }) => identifier === null || isAskedAbout(issue));
  const states = await statesNow(tracker, others.filter(isMovable).map(idOf), signal);
  const around = { state, now: deps.clock.now(), waitOf };
  const known: readonly Explained[] = [
    ...candidates.map((candidate) => [candidate.issue, ofCandidate(state, candidate, around)] as const),
    ...others.map((other) => [other.issue, ofOther(around, other, states?.get(idOf(other)))] as const),
  ];
  const found = namedIn(known, identifier);
  return identifier === null || found.length > 0 ? found : [await explainUnknown(state, tracker, identifier, signal)];
}

/** What the service says of itself that is judged with each issue. */
function toldBy(troubles: readonly Trouble[]) {
  const preflightProblem = troubles.find(({ what }) => what === 'preflight')?.text ?? null;
  return { preflightProblem, isStopping: troubles.some(isStop) };
}

export type RecordsAround = RecordedAround & Pick<Around, 'waitOf'>;

/** What the records alone tell, where the tracker cannot be asked; nothing of an issue that they do not know. */
export function explainRecords(durable: Durable, told: RecordsAround, identifier: string | null): readonly Explanation[] {
  const { watches, parked, claims } = durable;
  const around = { ...told, state: recordedState(durable, told) };
  const others = [...othersIn(watches, parked, claims).values()];
  return namedIn(
    others.map((other) => [other.issue, ofOther(around, other, undefined)]),
    identifier,
  );
}

type Explained = readonly [IssueRef, Explanation];

/** Those of this name; all where none is asked for. */
function namedIn(known: readonly Explained[], name: string | null): readonly Explanation[] {
  const meant = name === null ? known : byName(name, (isMeant) => nonEmpty(known.filter(([issue]) => isMeant(issue))));
  return (meant ?? []).map(([, explanation]) => explanation);
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function ofCandidate(state: State, { issue, verdict }: SurveyedIssue, { waitOf }: Pick<Around, 'waitOf'>): Explanation {
  if (verdict === null) return entry(issue, null, null, {});
  const claim = state.claims.get(issue.id);
  const { reason, detail } = verdict;
  if (claim?.phase === 'waiting') return ofWaiting(state, { ...claim, issue }, verdict);
  const wait = claim?.phase === 'running' && reason === 'running' && claim.stoppedBy === null ? waitOf(claim.runId) : null;
  return entry(issue, reason, wait ?? detail, timesOf(state, issue.id, reason));
}

/** One of the retry queue, with what keeps it back; where that is only its time, since when and until when. */
function ofWaiting(state: State, claim: WaitingClaim, held: HoldVerdict): Explanation {
  const { issue, attempt, error, since, dueAt } = claim;
  if (isSlotTaken(held)) return ofDue(state, claim, held);
  if (held.reason !== 'retrying') return entry(issue, held.reason, held.detail, timesOf(state, issue.id, held.reason));
  const detail = error === '' ? held.detail : `attempt ${attempt} follows: ${error}`;
  // What a service left running is put into the queue by whoever looks, so that it has no times of its own.
  return entry(issue, 'retrying', detail, since < state.startedAt ? { since, until: dueAt } : {});
}

/** One whose time has come waits for a slot; where the hosts set the limit, for one of theirs. */
function ofDue({ settings }: State, { issue, since }: WaitingClaim, { reason, detail }: HoldVerdict): Explanation {
  const { agent, worker } = settings;
  const most = worker.sshHosts.length * worker.maxPerHost;
  if (reason !== 'no_global_slot' || most === 0 || most > agent.maxConcurrentAgents)
    return entry(issue, reason, detail, { since });
  return {
    ...entry(issue, reason, 'every host of worker.ssh_hosts has all the runs it may have', { since }),
    remedy: MORE_PER_HOST,
  };
}

const MORE_PER_HOST = 'wait for a free slot, name more hosts, or raise worker.max_concurrent_agents_per_host';

/** An issue we hold that is no candidate of this poll. */
type Other = Watch | Parked | Claim;

/** What those are judged by besides their own record. */
interface Around {
  readonly state: State;
  readonly now: number;
  readonly waitOf: Survey['waitOf'];
}

/** By the id of the issue. Of what is held in several ways a claim says most, then what it is parked for. */
function othersIn(watches: Iterable<Watch>, parked: Iterable<Parked>, claims: Iterable<Claim>): Map<string, Other> {
  return new Map([...watches, ...parked, ...claims].map((other) => [idOf(other), other]));
}

function idOf({ issue }: Other): string {
  return issue.id;
}

/** Whether a move of its issue in the tracker changes what is to be said of it. */
function isMovable(other: Other): boolean {
  return !('phase' in other) || other.phase === 'waiting';
}

function ofOther(around: Around, other: Other, at: string | undefined): Explanation {
  const { state, waitOf } = around;
  const { tracker } = state.settings;
  const issue = at ? refIn(other.issue, at) : other.issue;
  if (at && stateIn(tracker.terminalStates, at)) return ofTerminal(issue);
  if ('armedAt' in other) return ofWatched(tracker, other, at);
  if ('parkedAt' in other) return entry(issue, 'parked', `${other.reason}: ${other.detail}`, { since: other.parkedAt });
  if (other.phase === 'waiting') return ofWaiting(state, { ...other, issue }, claimHold(around, { ...other, issue }));
  const wait = other.phase === 'running' ? waitOf(other.runId) : null;
  return entry(issue, PHASES[other.phase], stopText(other) ?? wait ?? `attempt ${other.attempt}`, { since: other.since });
}

function ofTerminal(issue: Pick<IssueRef, 'identifier' | 'state'>): Explanation {
  return entry(issue, 'terminal', `state "${issue.state}" is a terminal state`, {});
}

/** A reaction works on from the handoff state and from an active one. Where nobody told its state, it was left in the former. */
function ofWatched(tracker: TrackerSettings, { issue, mergeRequest, armedAt }: Watch, told: string | undefined): Explanation {
  const { handoffState, activeStates } = tracker;
  const { owner, repo, number } = mergeRequest;
  const at = told ?? handoffState ?? issue.state;
  const watched = `merge request ${owner}/${repo}#${number} is watched`;
  if (told === undefined || stateIn(handoffState === null ? activeStates : [...activeStates, handoffState], told))
    return entry({ ...issue, state: at }, 'handed_off', watched, { since: armedAt });
  const place = at === '' ? 'the issue has no state' : `state "${at}" is neither an active state nor the handoff state`;
  const found = entry({ ...issue, state: at }, 'not_active', `${place}; ${watched}, no turn for it starts from there`, {});
  return handoffState === null ? found : { ...found, remedy: `move the issue back to "${handoffState}"` };
}

const PHASES = { running: 'running', 'handing-off': 'handing_off' } as const;

/** An issue that no poll and no record of ours tells of: the tracker is asked for its state. */
async function explainUnknown(state: State, tracker: Tracker, name: string, signal: AbortSignal): Promise<Explanation> {
  const { activeStates, terminalStates, handoffState, queryFilter } = state.settings.tracker;
  const closed = new Set<string>();
  const issue = await findStranger(tracker, name, closed, signal);
  if (issue === null) return entry({ identifier: name, state: '' }, 'unknown', 'the tracker has no issue of this name', {});
  const { state: at } = issue;
  if (stateIn(terminalStates, at)) return ofTerminal(issue);
  if (handoffState !== null && sameState(at, handoffState))
    return entry(issue, 'handed_off', `state "${at}" is the handoff state`, {});
  if (closed.size > 0) return { ...entry(issue, 'not_active', 'the issue is closed', {}), remedy: 'reopen the issue' };
  if (stateIn(activeStates, at)) return ofUnlisted(issue, queryFilter);
  return entry(issue, 'not_active', at === '' ? 'the issue has no state' : `state "${at}" is not an active state`, {});
}

/** In an active state, but no candidate of this poll. Where nothing narrows the list, it came while the poll was under way. */
function ofUnlisted(issue: Pick<IssueRef, 'identifier' | 'state'>, queryFilter: string): Explanation {
  const active = `state "${issue.state}" is an active state`;
  if (queryFilter.trim() === '')
    return entry(issue, 'next_poll', `${active}, but the last list of the tracker lacks the issue`, {});
  return entry(issue, 'not_listed', `${active}, but tracker.query_filter (${queryFilter}) leaves the issue out`, {});
}

/** By its name, or by the same in another case: not every tracker takes both. */
async function findStranger(
  tracker: Tracker,
  name: string,
  closed: Set<string>,
  signal: AbortSignal,
): Promise<Pick<IssueRef, 'identifier' | 'state'> | null> {
  for (const identifier of new Set([name, numberIn(name) ?? name, name.toUpperCase(), name.toLowerCase()])) {
    const state = await stateAt(tracker, identifier, closed, signal);
    if (state !== null) return { identifier, state };
  }
  return null;
}

async function stateAt(tracker: Tracker, identifier: string, closed: Set<string>, signal: AbortSignal): Promise<string | null> {
  try {
    const states = await tracker.fetchIssueStatesByIdentifiers([identifier], signal, closed);
    return states.get(identifier) ?? [...states.values()][0] ?? null;
  } catch (error) {
    if (error instanceof TrackerError && error.kind === 'tracker_not_found') return null;
    throw error;
  }
}

/** Since when a service holds an issue for another reason it keeps to itself. */
function timesOf(state: State, issueId: string, reason: Reason): Times {
  const { claims, parked, pauses, operatorPause, settings } = state;
  if (reason === 'ending_elsewhere') return endingTimes(state, issueId);
  if (reason === 'paused') return sinceOf(operatorPause?.since);
  if (reason === 'parked') return sinceOf(parked.get(issueId)?.parkedAt);
  if (reason === 'running' || reason === 'handing_off') return sinceOf(claims.get(issueId)?.since);
  const until = reason === 'agent_paused' ? pauses.get(settings.agent.kind)?.until : undefined;
  return until === undefined ? {} : { until };
}

function endingTimes({ endingElsewhere }: Pick<State, 'endingElsewhere'>, issueId: string): Times {
  const until = endingElsewhere.get(issueId);
  return until === undefined ? {} : { until };
}

function sinceOf(since: number | undefined): Times {
  return since === undefined ? {} : { since };
}
