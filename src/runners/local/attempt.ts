import type { AgentStatus } from '../../domain/model/agent-event.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import { AgentError, TrackerError } from '../../domain/model/errors.ts';
import { FaultError, faultOf } from '../../domain/model/fault.ts';
import type { RunExit } from '../../domain/model/event.ts';
import { countClosed, presentState, sameState, stateIn, type Issue } from '../../domain/model/issue.ts';
import type { AgentSession } from '../../ports/agent.ts';
import type { WorkspaceSubject } from '../../ports/workspace.ts';
import type { RunAdapters, RunListener } from '../../ports/runner.ts';
import { createLastWord } from './last-word.ts';
import { namedRequest } from './named-request.ts';
import { selfReview } from './self-review.ts';
import { idsOf, outweighs, takeTurn } from './take-turn.ts';

/** What an attempt works with and whom it tells. */
export interface AttemptDeps extends RunListener {
  readonly adapters: RunAdapters;
  /** Aborts what follows the turns too, which a service that stops lets end: the work is done and paid for. */
  readonly finishing: AbortSignal;
  /** Aborts even what a stopped run still does to leave things tidy. */
  readonly killed: AbortSignal;
}

/** One attempt at one issue: read it, prepare, take turns, tidy up. Says how it ended; never rejects. */
export async function runAttempt(plan: RunPlan, deps: AttemptDeps, signal: AbortSignal): Promise<RunExit> {
  const progress: Progress = { turns: 0, status: null, costUsd: 0 };
  let workspacePath = '';
  let subject = subjectOf(plan);
  let exit: RunExit;
  try {
    const expected = await deps.adapters.workspaces.pathFor(subject);
    if (expected !== null) deps.report({ type: 'workspace-chosen', ...idsOf(plan), workspacePath: expected });
    const issue = await readIssue(plan, deps, signal);
    if (issue === null) return { kind: 'normal', turns: 0, fault: null, status: null, scm: null };
    // What we keep of a title has no secrets in it; hooks and the merge request get it as it is.
    subject = { ...subject, title: issue.title };
    const workspace = await deps.adapters.workspaces.prepare(subject, signal);
    workspacePath = workspace.path;
    deps.report({ type: 'run-prepared', ...idsOf(plan), workspacePath });
    await deps.adapters.workspaces.beforeRun(subject, signal);
    const before = await workBefore(plan, deps, signal);
    await takeTurns({ plan, issue, workspacePath }, progress, deps, signal);
    await requireEvidence(plan, { before, status: progress.status }, deps);
    const scm = progress.status?.word === 'blocked' ? null : await deps.adapters.workspaces.deliver(subject, deps.finishing);
    if (before !== null) await deps.adapters.workspaces.settleWork(subject);
    exit = { kind: 'normal', turns: progress.turns, fault: null, status: progress.status, scm };
  } catch (error) {
    exit = failedExit(error, progress.turns, signal);
  }
  if (workspacePath === '') return exit;
  await deps.adapters.workspaces.afterRun(subject, deps.killed);
  return { ...exit, scm: exit.scm ?? (await namedRequest(plan, subject, workspacePath, deps)) };
}

/** Null where no change is asked for. */
async function workBefore(plan: RunPlan, deps: AttemptDeps, signal: AbortSignal): Promise<string | null> {
  return plan.settings.agent.evidence === 'changes' ? deps.adapters.workspaces.workBefore(subjectOf(plan), signal) : null;
}

/** A run that is to show changes and shows none has failed, unless its agent said that it has none to make. */
async function requireEvidence(
  plan: RunPlan,
  { before, status }: { before: string | null; status: AgentStatus | null },
  { adapters: { workspaces }, finishing }: AttemptDeps,
): Promise<void> {
  if (before === null || status?.word === 'no-change-needed' || status?.word === 'blocked') return;
  if (await workspaces.hasWorkSince(subjectOf(plan), before, finishing)) return;
  throw new AgentError({
    kind: 'agent_no_evidence',
    detail: 'the run ended well but left no commit, no changed file and no pushed branch behind (agent.evidence is changes)',
  });
}

/** The full issue, after its move to the in-progress state where one is set; null when it is no longer ours to work on. */
async function readIssue(plan: RunPlan, deps: AttemptDeps, signal: AbortSignal): Promise<Issue | null> {
  const { issueAsRead } = plan;
  const state = await enterInProgress(plan, deps, signal);
  // The move is made also where the run is told to stop meanwhile.
  signal.throwIfAborted();
  if (state === null) return null;
  if (issueAsRead !== null) return { ...issueAsRead, state };
  const issue = await deps.adapters.tracker.fetchIssueById(plan.issue.id, signal);
  deps.report({ type: 'state-seen', ...idsOf(plan), state: presentState(issue) });
  return mayWorkIn(plan, presentState(issue)) ? issue : null;
}

/** The state after it; null when the issue moved on meanwhile: then it is not touched. */
async function enterInProgress(plan: RunPlan, deps: AttemptDeps, signal: AbortSignal): Promise<string | null> {
  const { inProgressState, activeStates } = plan.settings.tracker;
  const { id, state: known } = plan.issue;
  if (inProgressState === null || !stateIn(activeStates, known) || sameState(known, inProgressState)) return known;
  const state = plan.issueAsRead === null ? await readState(id, deps, signal) : presentState(plan.issueAsRead);
  deps.report({ type: 'state-seen', ...idsOf(plan), state });
  if (!mayWorkIn(plan, state)) return null;
  if (!stateIn(activeStates, state) || sameState(state, inProgressState)) return state;
  return (await moveToInProgress(plan, inProgressState, deps, signal)) ? inProgressState : state;
}

/** Work goes on in an active state; a reaction's also in the handoff state. */
function mayWorkIn(plan: RunPlan, state: string): boolean {
  const { activeStates, terminalStates, handoffState } = plan.settings.tracker;
  if (stateIn(terminalStates, state)) return false;
  if (stateIn(activeStates, state)) return true;
  return plan.reaction !== null && handoffState !== null && sameState(state, handoffState);
}

/** A refusal for lack of permission only warns; any other failure fails the attempt. Says whether it moved. */
async function moveToInProgress(plan: RunPlan, state: string, deps: AttemptDeps, signal: AbortSignal): Promise<boolean> {
  try {
    await deps.adapters.tracker.transitionIssue(plan.issue.id, state, signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || error.kind !== 'tracker_auth_error') throw error;
    deps.announce({ name: 'issue:in-progress:refused', facts: { issue: plan.issue, state, error: error.message } });
    return false;
  }
  deps.announce({ name: 'issue:in-progress:succeeded', facts: { issue: plan.issue, state } });
  deps.report({ type: 'state-seen', ...idsOf(plan), state });
  return true;
}

/** The working part of an attempt: a session and its turns. The tools close with it, also when it never opens. */
async function takeTurns(work: Work, progress: Progress, deps: AttemptDeps, signal: AbortSignal): Promise<void> {
  const { plan, workspacePath } = work;
  const { agent, tools, tracker } = deps.adapters;
  let session: AgentSession | null = null;
  try {
    session = await agent.startSession(
      {
        runId: plan.runId,
        issueId: plan.issue.id,
        issueIdentifier: plan.issue.identifier,
        workspacePath,
        resumeSessionId: plan.resumeSessionId,
        toolServer: tools.open(plan, tracker),
      },
      signal,
    );
    await workIn(session, work, progress, deps, signal);
  } finally {
    await session?.stop();
    tools.close(plan.runId);
  }
}

async function workIn(
  session: AgentSession,
  work: Work,
  progress: Progress,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<void> {
  const { plan, workspacePath } = work;
  const { adapters } = deps;
  const report: AttemptDeps['report'] = (said) => {
    if (said.type === 'agent-spoke' && said.event.type === 'usage')
      progress.costUsd = Math.max(progress.costUsd, said.event.costUsd ?? 0);
    deps.report(said);
  };
  const lastWord = createLastWord();
  const take = async (number: number, prompt: string): Promise<void> => {
    if (number > 1) await adapters.workspaces.requireOwn(subjectOf(plan), signal);
    const budgetUsd = plan.costLeftUsd == null ? null : Math.max(0, plan.costLeftUsd - progress.costUsd);
    const fault = await takeTurn(plan, session, { number, prompt, budgetUsd }, { ...deps, report }, signal);
    const written = await adapters.workspaces.readStatus(subjectOf(plan), workspacePath);
    const status = lastWord({ told: adapters.tools.statusOf(plan.runId), written });
    if (fault !== null) {
      if (!outweighs(status, fault)) throw new FaultError(fault);
      deps.report({ type: 'agent-spoke', ...idsOf(plan), event: { type: 'notice', text: fault.message } });
    }
    progress.turns = number;
    progress.status = status;
  };
  deps.report({ type: 'session-started', ...idsOf(plan), sessionId: session.sessionId });
  const { maxTurns } = plan.settings.agent;
  for (let turn = 1; turn <= maxTurns; turn += 1) {
    const reaction = turn === 1 ? plan.reaction : null;
    const run = { turnNumber: turn, maxTurns };
    await take(turn, adapters.promptFor({ issue: work.issue, attempt: plan.attempt, run, reaction, hasTools: session.hasTools }));
    if (progress.status !== null) break;
    if (!(await mayGoOn(plan, deps, signal))) return;
  }
  if (progress.status?.word === 'blocked') return;
  await selfReview(plan, workspacePath, deps, {
    turnsLeft: () => maxTurns - progress.turns,
    take: (prompt) => take(progress.turns + 1, prompt),
    mayGoOn: async () => progress.status?.word !== 'blocked' && mayGoOn(plan, deps, signal),
  });
}

/** What is worked on, and where. */
interface Work {
  readonly plan: RunPlan;
  readonly issue: Issue;
  readonly workspacePath: string;
}

interface Progress {
  turns: number;
  status: AgentStatus | null;
  /** What the session has cost by the agent's own figures. */
  costUsd: number;
}

/** Empty where the tracker does not find it, or it has none. */
async function readState(id: string, deps: AttemptDeps, signal: AbortSignal): Promise<string> {
  const closed = new Set<string>();
  return countClosed(await deps.adapters.tracker.fetchIssueStatesByIds([id], signal, closed), closed).get(id) ?? '';
}

/**
 * Reads the issue's state after a turn. A failed read is no reason to stop: the next poll looks too. Neither is one that
 * the stop of the service cut short: what is left to do without another turn is done.
 */
async function mayGoOn(plan: RunPlan, deps: AttemptDeps, signal: AbortSignal): Promise<boolean> {
  try {
    const state = await readState(plan.issue.id, deps, deps.finishing);
    if (state === '') return true;
    deps.report({ type: 'state-seen', ...idsOf(plan), state });
    return mayWorkIn(plan, state);
  } catch (error) {
    deps.finishing.throwIfAborted();
    if (!signal.aborted)
      deps.announce({ name: 'issue:state:unreadable', facts: { issue: plan.issue, error: faultOf(error).message } });
    return true;
  }
}

function failedExit(error: unknown, turns: number, signal: AbortSignal): RunExit {
  const cancelled = signal.aborted || (error instanceof AgentError && error.kind === 'turn_cancelled');
  return { kind: cancelled ? 'cancelled' : 'error', turns, fault: faultOf(error), status: null, scm: null };
}

function subjectOf(plan: RunPlan): WorkspaceSubject {
  const { id, identifier, title } = plan.issue;
  const { hooks, tracker } = plan.settings;
  return { tracker: tracker.identity, issueId: id, identifier, title, attempt: plan.attempt, hooks };
}
