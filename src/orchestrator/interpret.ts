import type { OutboxEntry, TrackerWrite } from '../domain/model/claim.ts';
import type { AskedEffect, AskedName, Effect, EffectNamed } from '../domain/model/effect.ts';
import { TrackerError } from '../domain/model/errors.ts';
import { faultOf, type Fault, type Answer } from '../domain/model/fault.ts';
import { failedExit, type AnswerTo, type Event, type HandoffOutcome } from '../domain/model/event.ts';
import { countClosed, sameState, stateIn, type Blocker, type Issue } from '../domain/model/issue.ts';
import { isNotification } from '../domain/model/notification.ts';
import type { Spent } from '../domain/model/run.ts';
import { CANDIDATES_PER_SLICE } from '../domain/model/poll.ts';
import { withoutCommands } from '../domain/rules/without-commands.ts';
import type { Tracker } from '../ports/tracker.ts';
import { answer } from './answer.ts';
import type { InterpretDeps } from './effect-deps.ts';
import { readBlockersOf } from './read-blockers.ts';
import { readTerminal, sweep, removeIssueWorkspace } from './workspace-effects.ts';
import { lookAt, mergeRequest, deleteRequestBranch, removeRequestLabel, completeIssue } from './reactions/effects.ts';

/**
 * Carries out effects beside the loop. Each one that is asked for is answered by exactly one event: what its function
 * returns, or `effect-failed` when it throws.
 */
export function createInterpreter(deps: InterpretDeps): (effect: Effect) => void {
  const fail = (effect: AskedEffect, error: unknown): void =>
    deps.report({ type: 'effect-failed', effect, fault: faultOf(error) });
  return (effect) => {
    switch (effect.do) {
      case 'announce':
        return deps.announce(effect.notice);
      case 'stop-run':
        return stopRun(deps, effect);
      case 'start-run':
        try {
          return deps.runner.start(effect.plan, deps);
        } catch (error) {
          return fail(effect, error);
        }
      default:
        perform(deps, effect).then(deps.report, (error: unknown) => fail(effect, error));
    }
  };
}

/** A run that its runner no longer knows is over. */
function stopRun(deps: InterpretDeps, { runId, issueId, reason }: Extract<Effect, { do: 'stop-run' }>): void {
  if (deps.runner.stop(runId, reason) === 'told') return;
  const fault: Fault = { kind: 'internal_error', message: 'the run is no longer known where it ran', consequence: 'back-off' };
  deps.report({ type: 'run-exited', issueId, runId, exit: failedExit(fault) });
}

type Performed = Exclude<AskedName, 'start-run'>;

type Perform<Name extends Performed> = (deps: InterpretDeps, effect: EffectNamed<Name>) => Promise<AnswerTo<Name>>;

async function perform(deps: InterpretDeps, effect: EffectNamed<Performed>): Promise<Event> {
  return (PERFORM[effect.do] as Perform<Performed>)(deps, effect);
}

/** How each effect is carried out. */
const PERFORM: { readonly [Name in Performed]: Perform<Name> } = {
  poll,
  'read-blockers': readBlockers,
  'go-on': goOn,
  'read-candidate': readCandidate,
  'read-issue': readIssue,
  'hand-off': handOff,
  'write-out': writeOut,
  'read-terminal': readTerminal,
  sweep,
  inspect: lookAt,
  merge: mergeRequest,
  'delete-branch': deleteRequestBranch,
  'remove-label': removeRequestLabel,
  complete: completeIssue,
  'remove-workspace': removeIssueWorkspace,
};

/** Both reads at once; each may fail without the other. */
async function poll(deps: InterpretDeps, effect: EffectNamed<'poll'>): Promise<AnswerTo<'poll'>> {
  const { lookups, onlyStates = false } = effect;
  const { tracker } = deps.adapters();
  const older = olderTrackers(deps, effect);
  const apart = new Set([...older.values()].flat());
  const unknown = new Set<string>();
  const [candidates, states, olderStates, preflightProblem] = await Promise.all([
    answer(onlyStates ? Promise.resolve([]) : tracker.fetchCandidateIssues(deps.killed).then(deps.inOrder)),
    statesOf(deps, tracker, { ids: apart.size === 0 ? lookups : lookups.filter((id) => !apart.has(id)), unknown }),
    Promise.all([...older].map(async ([own, ids]) => ({ ids, states: await statesOf(deps, own, { ids, unknown }) }))),
    deps.findPreflightProblem(),
  ]);
  const spent = candidates.ok ? await spentOn(deps, candidates.value) : [];
  return { type: 'poll-answered', candidates, states, olderStates, unknown, preflightProblem, spent };
}

/** The ids to ask trackers of before an edit for. An edit that left the tracker as it was asks no other one. */
function olderTrackers(deps: InterpretDeps, { ofOlder = [] }: EffectNamed<'poll'>): ReadonlyMap<Tracker, readonly string[]> {
  const { tracker } = deps.adapters();
  const older = new Map<Tracker, readonly string[]>();
  for (const { settings, ids } of ofOlder) {
    const own = deps.adaptersOf(settings).tracker;
    if (own !== tracker) older.set(own, [...(older.get(own) ?? []), ...ids]);
  }
  return older;
}

interface Lookup {
  readonly ids: readonly string[];
  readonly unknown: Set<string>;
}

function statesOf(deps: InterpretDeps, own: Tracker, { ids, unknown }: Lookup): Promise<Answer<ReadonlyMap<string, string>>> {
  if (ids.length === 0) return answer(Promise.resolve(new Map<string, string>()));
  const read = async (tracker: Tracker): Promise<ReadonlyMap<string, string>> => {
    const closed = new Set<string>();
    return countClosed(await tracker.fetchIssueStatesByIds(ids, deps.killed, closed, unknown), closed);
  };
  return answer(orByPresent(deps, own, read));
}

/** In slices with a pause after each, as candidates may be many. */
async function spentOn(deps: InterpretDeps, candidates: readonly Issue[]): Promise<readonly Spent[]> {
  const found: Spent[] = [];
  for (let start = 0; start < candidates.length; start += CANDIDATES_PER_SLICE) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    const ids = candidates.slice(start, start + CANDIDATES_PER_SLICE).map(({ id }) => id);
    found.push(...(await deps.spentOn(ids)));
  }
  return found;
}

/** One after the other. One that cannot be read holds its own candidate alone. */
async function readBlockers(deps: InterpretDeps, { issues }: EffectNamed<'read-blockers'>): Promise<AnswerTo<'read-blockers'>> {
  const { tracker } = deps.adapters();
  const blockers = new Map<string, Answer<readonly Blocker[]>>();
  for (const issue of issues) blockers.set(issue.id, await readBlockersOf(tracker, issue.id, deps.killed));
  return { type: 'blockers-answered', blockers };
}

async function goOn(): Promise<AnswerTo<'go-on'>> {
  await new Promise((resolve) => setImmediate(resolve));
  return { type: 'went-on' };
}

async function readCandidate(deps: InterpretDeps, { issue }: EffectNamed<'read-candidate'>): Promise<AnswerTo<'read-candidate'>> {
  return { type: 'candidate-read', issueId: issue.id, issue: { ok: true, value: await findIssue(deps, issue.id) } };
}

async function readIssue(deps: InterpretDeps, { issueId }: EffectNamed<'read-issue'>): Promise<AnswerTo<'read-issue'>> {
  return { type: 'issue-read', issueId, issue: { ok: true, value: await findIssue(deps, issueId) } };
}

/** Null when the tracker no longer has it. */
async function findIssue(deps: InterpretDeps, issueId: string): Promise<Issue | null> {
  try {
    return await deps.adapters().tracker.fetchIssueById(issueId, deps.killed);
  } catch (error) {
    if (error instanceof TrackerError && error.kind === 'tracker_not_found') return null;
    throw error;
  }
}

/** Reads the state once more before writing, so that a terminal, closed or moved issue is never overwritten. */
async function handOff(deps: InterpretDeps, effect: EffectNamed<'hand-off'>): Promise<AnswerTo<'hand-off'>> {
  const { issue, handoff, settings, begun } = effect;
  const outcome = await orByPresent(deps, deps.adaptersOf(settings).tracker, (tracker, isSecond) =>
    moveOn(tracker, { ...effect, begun: begun || isSecond }, deps.killed),
  );
  return { type: 'handoff-answered', issueId: issue.id, runId: handoff.runId, outcome };
}

async function moveOn(
  tracker: Tracker,
  { issue, handoff, settings, begun }: EffectNamed<'hand-off'>,
  signal: AbortSignal,
): Promise<HandoffOutcome> {
  const closed = new Set<string>();
  const state = countClosed(await tracker.fetchIssueStatesByIds([issue.id], signal, closed), closed).get(issue.id);
  if (state === undefined) return { kind: 'gone' };
  if (sameState(state, handoff.target)) {
    if (begun && tracker.movesInSteps) await tracker.transitionIssue(issue.id, handoff.target, signal);
    return { kind: 'succeeded' };
  }
  if (stateIn(settings.tracker.terminalStates, state)) return { kind: 'terminal', state };
  if (!stateIn(settings.tracker.activeStates, state)) return { kind: 'moved', state };
  await tracker.transitionIssue(issue.id, handoff.target, signal);
  return { kind: 'succeeded' };
}

/**
 * Asks the tracker that a run began with. Where an edit replaced that one and its credential is refused by now, as after a
 * key was changed, the present one is asked once: both are of the identity that this loop is for.
 */
async function orByPresent<T>(
  deps: InterpretDeps,
  own: Tracker,
  request: (tracker: Tracker, isSecond: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await request(own, false);
  } catch (error) {
    const present = deps.adapters().tracker;
    const isRefused = error instanceof TrackerError && error.kind === 'tracker_auth_error';
    if (!isRefused || present === own) throw error;
    return request(present, true);
  }
}

async function writeOut(deps: InterpretDeps, { entry, settings }: EffectNamed<'write-out'>): Promise<AnswerTo<'write-out'>> {
  if (isNotification(entry)) await deps.adapters().notifier.send(entry, deps.killed);
  else await orByPresent(deps, deps.adaptersOf(settings).tracker, (tracker) => send(tracker, entry, deps.killed));
  return { type: 'outbox-answered', id: entry.id, fault: null };
}

/** A comment may have arrived although we never heard so: its text names its run, so it is looked for first. */
async function send(tracker: Tracker, entry: OutboxEntry, signal: AbortSignal): Promise<void> {
  const { issue } = entry;
  const write = entry.write as TrackerWrite;
  if (write.kind === 'label') {
    await tracker.labels?.add(issue.id, write.label, signal);
    return;
  }
  const comments = await tracker.fetchIssueComments(issue.id, signal);
  // It may quote an agent, and a fence holds no bot back.
  const text = tracker.obeysComments ? withoutCommands(write.text) : write.text;
  const wanted = wordsOf(text);
  if (!comments.some((comment) => wordsOf(comment.body) === wanted)) await tracker.commentIssue(issue.id, text, signal);
}

/** Trackers reformat what they are given; the words stay. */
function wordsOf(text: string): string {
  return text.replaceAll(/[`\s]+/g, ' ').trim();
}
