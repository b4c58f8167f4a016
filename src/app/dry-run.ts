import { faultOf } from '../domain/model/errors.ts';
import { openDraft, type Draft } from '../domain/draft.ts';
import { NOTHING_DURABLE } from '../domain/model/durable.ts';
import { inDispatchOrder, globalSlots, stateSlots } from '../domain/rules/eligibility.ts';
import type { Answer } from '../domain/model/answer.ts';
import { refOf, type Blocker, type Issue } from '../domain/model/issue.ts';
import { blockersToRead, holdOf } from '../domain/events/on-poll.ts';
import { recover } from '../domain/recover.ts';
import { startRun } from '../domain/events/start-run.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { Tracker } from '../ports/tracker.ts';
import { openStoreReadOnly } from '../store/sqlite/read-only.ts';
import { buildAdapters, type AdapterDeps } from './build-adapters.ts';
import { NO_RUN_TOOLS } from './run-tools.ts';
import type { GoodWorkflow } from './workflow.ts';

type DryRunDeps = Omit<AdapterDeps, 'processes' | 'announce' | 'tools'>;

/** Exactly one poll: what would be dispatched, and why the rest would not. Starts nothing, writes nothing. */
export async function reportDryRun(workflow: GoodWorkflow, deps: DryRunDeps, signal: AbortSignal): Promise<void> {
  const { logger, clock } = deps;
  const { settings } = workflow;
  logger.info('dry run starting', { version: deps.version, workflow_path: workflow.path, tracker_kind: settings.tracker.kind });
  const adapters = buildAdapters(
    workflow,
    { ...deps, processes: { started: () => {}, ended: () => {} }, announce: () => {}, tools: NO_RUN_TOOLS },
    null,
  );
  await adapters.tracker.preflight?.(signal);
  const candidates = inDispatchOrder(await adapters.tracker.fetchCandidateIssues(signal));
  const preflightProblem = (await adapters.agent.findProblem()) ?? (await adapters.workspaces.findProblem());
  const { state } = recover(settings, await readDurable(settings), 'dry-run', clock.now());
  const draft = openDraft({ ...state, preflightProblem }, clock.now());
  const blockers = await readBlockers(adapters.tracker, blockersToRead(draft.state, candidates), signal);
  const dispatched = candidates.filter((issue) => wouldDispatch(draft, issue, blockers.get(issue.id), deps)).length;
  logger.info('dry run completed', {
    candidates_fetched: candidates.length,
    would_dispatch: dispatched,
    ineligible: candidates.length - dispatched,
    max_concurrent_agents: settings.agent.maxConcurrentAgents,
  });
}

/** One record for the candidate. One that would run takes its slot, so that the next one sees what is left. */
function wouldDispatch(draft: Draft, issue: Issue, read: Answer<readonly Blocker[]> | undefined, deps: DryRunDeps): boolean {
  const verdict = holdOf(draft.state, issue, read);
  deps.logger.info('dry run candidate', {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    title: issue.title,
    state: issue.state,
    would_dispatch: verdict === null,
    global_slots_available: globalSlots(draft.state),
    state_slots_available: stateSlots(draft.state, issue.state),
    skip_reason: verdict?.reason,
    skip_detail: verdict?.detail,
  });
  if (verdict !== null) return false;
  startRun(draft, refOf(issue), { attempt: 0, failures: 0, refusals: 0, trigger: 'fresh', sessionId: null, reaction: null });
  return true;
}

/** What an earlier run left behind counts too: parked issues, claims and budgets. */
async function readDurable({ dbPath, tracker }: Settings) {
  const store = await openStoreReadOnly(dbPath);
  if (store === null) return NOTHING_DURABLE;
  try {
    return await store.load(tracker.identity);
  } finally {
    await store.close();
  }
}

async function readBlockers(
  tracker: Tracker,
  issues: readonly Issue[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Answer<readonly Blocker[]>>> {
  const read = new Map<string, Answer<readonly Blocker[]>>();
  for (const issue of issues) {
    if (!tracker.blockers) break;
    try {
      read.set(issue.id, { ok: true, value: await tracker.blockers.read(issue.id, signal) });
    } catch (error) {
      signal.throwIfAborted();
      read.set(issue.id, { ok: false, fault: faultOf(error) });
    }
  }
  return read;
}
