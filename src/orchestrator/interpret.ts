import type { OutboxEntry } from '../domain/model/claim.ts';
import type { Effect } from '../domain/model/effect.ts';
import { faultOf, TrackerError } from '../domain/model/errors.ts';
import type { Answer } from '../domain/model/answer.ts';
import type { Event, HandoffOutcome } from '../domain/model/event.ts';
import { sameState, stateIn, type Blocker } from '../domain/model/issue.ts';
import type { Notice } from '../domain/model/notice.ts';
import { answer } from './answer.ts';
import { runAttempt } from './attempt.ts';
import type { Adapters } from './adapters.ts';
import { complete, merge } from './reactions/act.ts';
import type { Forge } from './reactions/forge.ts';
import { inspect } from './reactions/inspect.ts';

export interface InterpretDeps {
  /** The adapters of the workflow in force. */
  readonly adapters: () => Adapters;
  readonly report: (event: Event) => void;
  readonly announce: (notice: Notice) => void;
  readonly findPreflightProblem: () => Promise<string | null>;
  /** Told of a fault that no effect foresaw. */
  readonly onFault: (effect: string, fault: unknown) => void;
  /** Aborted by a forced stop: everything under way ends. */
  readonly killed: AbortSignal;
}

/** Carries out effects: one function each, all of them reporting back as events. None of them rejects. */
export function createInterpreter(deps: InterpretDeps): (effect: Effect) => void {
  const runs = new Map<string, AbortController>();

  async function startRun(effect: Extract<Effect, { do: 'start-run' }>): Promise<void> {
    const { plan } = effect;
    const controller = new AbortController();
    runs.set(plan.runId, controller);
    const signal = AbortSignal.any([controller.signal, deps.killed]);
    const exit = await runAttempt(plan, { ...deps, adapters: deps.adapters() }, signal);
    runs.delete(plan.runId);
    deps.report({ type: 'run-exited', issueId: plan.issue.id, runId: plan.runId, exit });
  }

  /** Effects run beside the loop and report every outcome they foresee themselves. */
  function detach(promise: Promise<void>, name: string): void {
    promise.catch((fault: unknown) => deps.onFault(name, fault));
  }

  return (effect) => {
    switch (effect.do) {
      case 'announce':
        return deps.announce(effect.notice);
      case 'poll':
        return detach(poll(deps, effect.lookups), effect.do);
      case 'read-blockers':
        return detach(readBlockers(deps, effect), effect.do);
      case 'read-issue':
        return detach(readIssue(deps, effect.issueId), effect.do);
      case 'start-run':
        return detach(startRun(effect), effect.do);
      case 'stop-run':
        return runs.get(effect.runId)?.abort(new Error(`stopped: ${effect.reason}`));
      case 'hand-off':
        return detach(handOff(deps, effect), effect.do);
      case 'write-out':
        return detach(writeOut(deps, effect.entry), effect.do);
      case 'read-terminal':
        return detach(readTerminal(deps, effect.states), effect.do);
      case 'sweep':
        return detach(sweep(deps, effect.ids), effect.do);
      case 'remove-workspace':
        return detach(removeWorkspace(deps, effect), effect.do);
      case 'inspect':
        return detach(lookAt(deps, effect), effect.do);
      case 'merge':
        return detach(mergeRequest(deps, effect), effect.do);
      case 'delete-branch':
        return detach(deleteBranch(deps, effect), effect.do);
      case 'remove-label':
        return detach(removeLabel(deps, effect), effect.do);
      case 'complete':
        return detach(completeIssue(deps, effect), effect.do);
    }
  };
}

/** Both reads at once; each may fail without the other. */
async function poll(deps: InterpretDeps, lookups: readonly string[]): Promise<void> {
  const { tracker } = deps.adapters();
  const [candidates, states, preflightProblem] = await Promise.all([
    answer(tracker.fetchCandidateIssues(deps.killed)),
    answer(
      lookups.length === 0 ? Promise.resolve(new Map<string, string>()) : tracker.fetchIssueStatesByIds(lookups, deps.killed),
    ),
    deps.findPreflightProblem(),
  ]);
  deps.report({ type: 'poll-answered', candidates, states, preflightProblem });
}

/** One after the other; the first that fails ends the reading for this poll, the tracker may be in trouble. */
async function readBlockers(deps: InterpretDeps, effect: Extract<Effect, { do: 'read-blockers' }>): Promise<void> {
  const reader = deps.adapters().tracker.blockers;
  const blockers = new Map<string, Answer<readonly Blocker[]>>();
  for (const issue of effect.issues) {
    const read = reader ? await answer(reader.read(issue.id, deps.killed)) : UNREADABLE;
    blockers.set(issue.id, read);
    if (!read.ok) break;
  }
  deps.report({ type: 'blockers-answered', blockers });
}

const UNREADABLE: Answer<readonly Blocker[]> = {
  ok: false,
  fault: { kind: 'tracker_api_error', message: 'the tracker gave an incomplete list of blockers', consequence: 'back-off' },
};

async function readIssue(deps: InterpretDeps, issueId: string): Promise<void> {
  const issue = await answer(
    deps
      .adapters()
      .tracker.fetchIssueById(issueId, deps.killed)
      .catch((error: unknown) => {
        if (error instanceof TrackerError && error.kind === 'tracker_not_found') return null;
        throw error;
      }),
  );
  deps.report({ type: 'issue-read', issueId, issue });
}

async function handOff(deps: InterpretDeps, effect: Extract<Effect, { do: 'hand-off' }>): Promise<void> {
  const { issue, handoff } = effect;
  const outcome = await tryHandOff(deps, effect).catch((error: unknown): HandoffOutcome => ({
    kind: 'failed',
    fault: faultOf(error),
  }));
  deps.report({ type: 'handoff-answered', issueId: issue.id, runId: handoff.runId, outcome });
}

/** Reads the state once more before writing, so that a terminal or moved issue is never overwritten. */
async function tryHandOff(deps: InterpretDeps, effect: Extract<Effect, { do: 'hand-off' }>): Promise<HandoffOutcome> {
  const { issue, handoff, settings } = effect;
  const { tracker } = deps.adapters();
  const state = (await tracker.fetchIssueStatesByIds([issue.id], deps.killed)).get(issue.id);
  if (state === undefined) return { kind: 'gone' };
  if (sameState(state, handoff.target)) return { kind: 'succeeded' };
  if (stateIn(settings.tracker.terminalStates, state)) return { kind: 'terminal', state };
  if (!stateIn(settings.tracker.activeStates, state)) return { kind: 'moved', state };
  await tracker.transitionIssue(issue.id, handoff.target, deps.killed);
  return { kind: 'succeeded' };
}

async function writeOut(deps: InterpretDeps, entry: OutboxEntry): Promise<void> {
  const sent = await answer(send(deps, entry));
  deps.report({ type: 'outbox-answered', id: entry.id, fault: sent.ok ? null : sent.fault });
}

/** A comment may have arrived although we never heard so: its text names its run, so it is looked for first. */
async function send(deps: InterpretDeps, entry: OutboxEntry): Promise<void> {
  const { tracker } = deps.adapters();
  const { issue, write } = entry;
  if (write.kind === 'label') {
    await tracker.labels?.add(issue.id, write.label, deps.killed);
    return;
  }
  const comments = await tracker.fetchIssueComments(issue.id, deps.killed);
  const wanted = wordsOf(write.text);
  if (!comments.some((comment) => wordsOf(comment.body) === wanted))
    await tracker.commentIssue(issue.id, write.text, deps.killed);
}

/** Trackers reformat what they are given; the words stay. */
function wordsOf(text: string): string {
  return text.replaceAll(/[`\s]+/g, ' ').trim();
}

/** Only issues whose workspace is still here matter. */
async function readTerminal(deps: InterpretDeps, states: readonly string[]): Promise<void> {
  const { tracker, workspaces } = deps.adapters();
  const issues = await answer(
    (async () => {
      const [terminal, present] = await Promise.all([tracker.fetchIssuesByStates(states, deps.killed), workspaces.list()]);
      const names = new Set(present);
      return terminal.filter((issue) => names.has(workspaces.nameOf(issue.identifier) ?? ''));
    })(),
  );
  deps.report({ type: 'cleanup-answered', issues });
}

async function sweep(deps: InterpretDeps, ids: readonly string[]): Promise<void> {
  const states = await answer(deps.adapters().tracker.fetchIssueStatesByIds(ids, deps.killed));
  deps.report({ type: 'sweep-answered', states, asked: ids });
}

async function removeWorkspace(deps: InterpretDeps, effect: Extract<Effect, { do: 'remove-workspace' }>): Promise<void> {
  const { workspaces, hooks } = deps.adapters();
  const { issueId, identifier, title, why } = effect;
  const removal = await answer(workspaces.remove({ issueId, identifier, title, attempt: 0, hooks }, deps.killed));
  const outcome: Answer<boolean> = removal.ok ? { ok: true, value: removal.value.removed } : removal;
  deps.report({ type: 'workspace-removed', issueId, identifier, path: workspaces.pathOf(identifier) ?? '', why, outcome });
}

async function lookAt(deps: InterpretDeps, effect: Extract<Effect, { do: 'inspect' }>): Promise<void> {
  const { tracker } = deps.adapters();
  const { issue, mergeRequest, armedAt } = effect.watch;
  const findings = await inspect(effect, tracker, forgeOf(deps), deps.killed);
  deps.report({ type: 'inspected', issueId: issue.id, number: mergeRequest.number, armedAt, due: effect.due, findings });
}

async function mergeRequest(deps: InterpretDeps, effect: Extract<Effect, { do: 'merge' }>): Promise<void> {
  const outcome = await merge(effect, forgeOf(deps), deps.killed);
  deps.report({ type: 'merge-answered', issueId: effect.issueId, expectedSha: effect.order.expectedSha, outcome });
}

async function deleteBranch(deps: InterpretDeps, effect: Extract<Effect, { do: 'delete-branch' }>): Promise<void> {
  const { request } = effect;
  const deleted = await answer(forgeOf(deps).scm.deleteBranch(request, request.branch, deps.killed));
  deps.report({ type: 'branch-deleted', issueId: effect.issueId, fault: deleted.ok ? null : deleted.fault });
}

/** The label was a command and is taken off as its receipt; when that fails the command still counts once. */
async function removeLabel(deps: InterpretDeps, effect: Extract<Effect, { do: 'remove-label' }>): Promise<void> {
  const { issueId, request, label } = effect;
  const removed = await answer(forgeOf(deps).scm.removeLabel(request, label, deps.killed));
  if (!removed.ok) deps.announce({ name: 'reaction:label:kept', facts: { issueId, label, error: removed.fault.message } });
}

async function completeIssue(deps: InterpretDeps, effect: Extract<Effect, { do: 'complete' }>): Promise<void> {
  const completed = await answer(complete(effect, deps.adapters().tracker, deps.killed));
  deps.report({ type: 'completion-answered', issueId: effect.issue.id, fault: completed.ok ? null : completed.fault });
}

function forgeOf(deps: InterpretDeps): Forge {
  const { forge } = deps.adapters();
  if (forge === null) throw new Error('a reaction is active without a forge');
  return forge;
}
