import { openDraft, type Draft } from '../../domain/draft.ts';
import type { RunningClaim, WaitingClaim } from '../../domain/model/claim.ts';
import { NOTHING_DURABLE, type Durable } from '../../domain/model/durable.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Answer } from '../../domain/model/fault.ts';
import { refOf, type Blocker, type Issue, type IssueRef } from '../../domain/model/issue.ts';
import type { State } from '../../domain/model/state.ts';
import { BLOCKER_READS_PER_POLL, holdOf } from '../../domain/rules/dispatch-filters.ts';
import { FIRST_START, startRun } from '../../domain/events/start-run.ts';
import { rebuilt, recover } from '../../domain/recover.ts';
import { inDispatchOrder } from '../../domain/rules/dispatch-order.ts';
import { globalSlots, slotHold, stateSlots } from '../../domain/rules/slots.ts';
import type { HoldVerdict } from '../../domain/model/hold.ts';
import { approvalHold } from '../../domain/rules/trust.ts';
import { readBlockersOf } from '../../orchestrator/read-blockers.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { fleetProblem, waitIn } from '../../runners/queue/leader/known-workers.ts';
import { createSshHosts } from '../../runners/ssh/hosts.ts';
import type { Fleet } from '../../store/postgres/index.ts';
import { withRecords } from './read-records.ts';
import { answeredOrTold, silenceTo } from '../adapters/check-tracker.ts';
import type { AdapterDeps } from '../adapters/adapter-deps.ts';
import { buildAdapters, type BuiltAdapters } from '../adapters/build-adapters.ts';
import { NO_METER } from '../adapters/request-meter.ts';
import { NO_RUN_TOOLS } from '../adapters/run-tools.ts';
import type { GoodWorkflow } from '../workflow.ts';

export type SurveyDeps = Omit<AdapterDeps, 'processes' | 'meter' | 'tools' | 'markKey' | 'hosts' | 'servedAt'>;

/** One candidate, and why it would not be dispatched; null when it would. */
export interface SurveyedIssue {
  readonly issue: Issue;
  readonly verdict: HoldVerdict | null;
  /** Free slots before it. */
  readonly globalSlots: number;
  readonly stateSlots: number;
}

export interface Survey {
  readonly candidates: readonly SurveyedIssue[];
  /** As the next poll would find it. */
  readonly state: State;
  readonly tracker: Tracker;
  /** What a run waits for that no worker has yet; null for any other. */
  readonly waitOf: (runId: string) => string | null;
}

/**
 * Exactly one poll, as the daemon would judge it: what would be dispatched, and why the rest would not. Writes nothing. The
 * few reads of blockers go to issues that would get a slot; those of issues that are asked about are read in any case.
 */
export async function surveyBoard(
  workflow: GoodWorkflow,
  deps: SurveyDeps,
  signal: AbortSignal,
  { isAskedAbout, ...told }: SurveyQuestion = {},
): Promise<Survey> {
  const adapters = await idleAdapters(workflow, deps);
  const { tracker } = adapters;
  await answeredOrTold(tracker, silenceTo(deps.logger), signal, { mustAnswer: true });
  const candidates = inDispatchOrder(await tracker.fetchCandidateIssues(signal));
  const { settings } = adapters.workflow;
  const { runOn } = settings.agent;
  const fleet = await fleetOf(adapters.workflow);
  const preflightProblem =
    (fleet && runOn && fleetProblem(fleet.workers, runOn, deps.version)) ??
    (told.preflightProblem === undefined ? await findProblem(adapters) : told.preflightProblem);
  const recorded = await stateOf(adapters.workflow, deps.clock.now());
  const lifecycle = told.isStopping === true ? 'draining' : recorded.lifecycle;
  const state: State = { ...recorded, preflightProblem, lifecycle };
  const draft = openDraft(state, deps.clock.now());
  const surveyed: SurveyedIssue[] = [];
  let reads = 0;
  for (const issue of candidates) {
    const whole = await readIfApproved(draft.state, issue, tracker, signal);
    const isAsked = isAskedAbout?.(issue) === true;
    const isSpare = reads < BLOCKER_READS_PER_POLL && slotHold(draft.state, issue.state) === null;
    // A tracker that tells them in its lists alone is not asked.
    const mayRead = isAsked || isSpare || !tracker.blockers;
    const blockers = mayRead ? await readBlockers(draft, whole, tracker, signal) : undefined;
    if (blockers !== undefined && tracker.blockers && !isAsked) reads += 1;
    surveyed.push(judge(draft, state, whole, blockers));
  }
  const waitOf = waitIn(fleet, { agent: settings.agent, pauses: state, version: deps.version });
  return { candidates: surveyed, state, tracker, waitOf };
}

/** What is asked of the board. */
interface SurveyQuestion {
  readonly isAskedAbout?: (issue: IssueRef) => boolean;
  /** What keeps sessions from starting by the word of the service at work, whose machine and environment they have. */
  readonly preflightProblem?: string | null;
  /** Whether that service is stopping: it starts nothing more. */
  readonly isStopping?: boolean;
}

/** What would keep sessions from starting here. */
async function findProblem({ agent, workspaces }: BuiltAdapters): Promise<string | null> {
  return (await agent.findProblem()) ?? (await workspaces.findProblem());
}

/** What runs or waits to run again, and the states of its issues as the tracker tells them now. */
export interface SurveyedRuns {
  readonly state: State;
  readonly running: readonly RunningClaim[];
  readonly waiting: readonly WaitingClaim[];
  /** Null where the tracker cannot be read. */
  readonly states: ReadonlyMap<string, string> | null;
}

/** Looks at the sessions and retries of a service only, with the settings of its file. */
export async function surveyRuns(workflow: GoodWorkflow, deps: SurveyDeps, signal: AbortSignal): Promise<SurveyedRuns> {
  const state = await stateOf(workflow, deps.clock.now());
  const claims = [...state.claims.values()];
  const running = claims.filter((claim) => claim.phase === 'running');
  const waiting = claims.filter((claim) => claim.phase === 'waiting').filter(({ then }) => then.kind === 'run');
  const ids = [...running, ...waiting].map(({ issue }) => issue.id);
  if (ids.length === 0) return { state, running, waiting, states: new Map() };
  const { tracker } = await idleAdapters(workflow, deps);
  return { state, running, waiting, states: await statesNow(tracker, ids, signal) };
}

/** States by id; null where the tracker cannot be read. */
export async function statesNow(
  tracker: Tracker,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | null> {
  try {
    return ids.length === 0 ? new Map() : await tracker.fetchIssueStatesByIds(ids, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TrackerError) return null;
    throw error;
  }
}

/** For a look at things: they start and write nothing. */
export function idleAdapters(workflow: GoodWorkflow, deps: SurveyDeps): Promise<BuiltAdapters> {
  const idle: AdapterDeps = {
    ...deps,
    processes: { started: () => {}, ended: () => {} },
    meter: NO_METER,
    tools: NO_RUN_TOOLS,
    markKey: '',
    hosts: createSshHosts(deps.clock),
    servedAt: () => null,
  };
  return buildAdapters(workflow, idle, null);
}

/** The workers, where runs are for workers. Before the first start of the service none can be there. */
export async function fleetOf(workflow: GoodWorkflow): Promise<Fleet | null> {
  if (workflow.settings.agent.runOn === null) return null;
  return withRecords(workflow.settings, workflow, async (records) => (await records?.fleet()) ?? null);
}

/** One that would start if what it says is what was approved is read whole, as it would be before it starts. */
async function readIfApproved(state: State, issue: Issue, tracker: Tracker, signal: AbortSignal): Promise<Issue> {
  if (approvalHold(state, issue)?.reason !== 'approval_not_read' || slotHold(state, issue.state) !== null) return issue;
  try {
    return await tracker.fetchIssueById(issue.id, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TrackerError) return issue;
    throw error;
  }
}

/** One that would run takes its slot, so that the next newcomer sees what is left. What we hold goes before all newcomers. */
function judge(draft: Draft, before: State, issue: Issue, read: Answer<readonly Blocker[]> | undefined): SurveyedIssue {
  const state = before.claims.has(issue.id) ? before : draft.state;
  const verdict = holdOf({ state, now: draft.now }, issue, read);
  const slots = { globalSlots: globalSlots(draft.state), stateSlots: stateSlots(draft.state, issue.state) };
  if (verdict === null) startRun(draft, refOf(issue), FIRST_START);
  return { issue, verdict, ...slots };
}

/** What an earlier run left behind counts too. Beside a daemon at work, what runs takes its slots. */
async function stateOf(workflow: GoodWorkflow, now: number): Promise<State> {
  const { settings } = workflow;
  return withRecords(settings, workflow, async (records) => {
    const durable: Durable = (await records?.load()) ?? NOTHING_DURABLE;
    const endingElsewhere = (await records?.endingElsewhere()) ?? new Map<string, number>();
    if (records?.daemon) return rebuilt(settings, durable, 'survey', now, endingElsewhere);
    return recover(settings, durable, 'survey', now, { delayMs: 0, endingElsewhere }).state;
  });
}

/** Of one that nothing else holds; undefined where they need not be read. */
async function readBlockers(
  draft: Draft,
  issue: Issue,
  tracker: Tracker,
  signal: AbortSignal,
): Promise<Answer<readonly Blocker[]> | undefined> {
  if (holdOf(draft, issue, undefined)?.reason !== 'blockers_not_read') return undefined;
  const blockers = await readBlockersOf(tracker, issue.id, signal);
  signal.throwIfAborted();
  return blockers;
}
