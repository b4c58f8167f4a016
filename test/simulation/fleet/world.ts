import type { AskedEffect, EffectNamed, RunPlan } from '../../../src/domain/model/effect.ts';
import type { Answer } from '../../../src/domain/model/fault.ts';
import type { Fault } from '../../../src/domain/model/fault.ts';
import type { Event, RunExit } from '../../../src/domain/model/event.ts';
import { stateIn, type Issue } from '../../../src/domain/model/issue.ts';
import type { Spent } from '../../../src/domain/model/run.ts';
import type { Settings } from '../../../src/domain/model/settings.ts';
import { inDispatchOrder } from '../../../src/domain/rules/dispatch-order.ts';
import { issueWith } from '../../support/issues.ts';
import type { Chance } from '../../support/random.ts';
import { createSimulatedForge, type SimulatedForge } from '../forge.ts';
import { HERE } from '../board.ts';

/** Tracker and forge that all daemons share, and the agents that live on the hosts of workers. */
export interface FleetWorld {
  readonly issues: ReadonlyMap<string, Issue>;
  readonly live: ReadonlyMap<string, RunPlan>;
  /** Writes that were taken, by what was written. */
  readonly written: ReadonlyMap<string, number>;
  readonly forge: SimulatedForge;
  /** What somebody who asks is answered. */
  read(effect: AskedEffect, now: number): Event;
  /** A write arrives and is answered. */
  write(effect: AskedEffect, now: number): Event;
  sessionStarted(plan: RunPlan): void;
  sessionEnded(plan: RunPlan): void;
  exitOf(plan: RunPlan): RunExit;
  edit(now: number): void;
  calm(now: number): void;
  isCalm(): boolean;
}

/** Of every reaction in the simulation. */
export const REACTION_BUDGET = 2;
export const FAULT: Fault = { kind: 'tracker_transport_error', message: 'the tracker hung up', consequence: 'back-off' };

const ACTIVE = ['todo', 'doing'];
const OTHERS = ['done', 'review', 'backlog'];
const FIRST_ISSUES = 10;
const MOST_ISSUES = 40;

/** A run is named after the epoch that it began in. */
function leaderOf(runId: string): string {
  return runId.split('-')[0] ?? '';
}

export function createFleetWorld(
  chance: Chance,
  settings: Settings,
  stored: ReadonlyMap<string, Spent>,
  violated: (what: string) => never,
): FleetWorld {
  const issues = new Map<string, Issue>();
  const live = new Map<string, RunPlan>();
  const written = new Map<string, number>();
  const handedOff = new Set<string>();
  const comments = new Set<string>();
  const forge = createSimulatedForge(chance, FAULT, { budget: REACTION_BUDGET, place: HERE, isAskedTwice: true }, violated);
  let isCalm = false;
  const add = (): void => {
    const id = String(issues.size + 1);
    issues.set(id, issueWith({ id, state: chance.pick(ACTIVE), blockedBy: [] }));
  };
  for (let count = 0; count < FIRST_ISSUES; count += 1) add();

  const maybe = <T>(value: () => T, probability = 0.05): Answer<T> =>
    !isCalm && chance.happens(probability) ? { ok: false, fault: FAULT } : { ok: true, value: value() };
  const statesOf = (ids: readonly string[]): ReadonlyMap<string, string> =>
    new Map(ids.flatMap((id) => (issues.has(id) ? [[id, issues.get(id)?.state ?? ''] as const] : [])));
  const whole = (id: string): Issue | null => {
    const issue = issues.get(id);
    return issue ? { ...issue, comments: [] } : null;
  };
  const count = (what: string): void => void written.set(what, (written.get(what) ?? 0) + 1);

  function move(id: string, state: string): void {
    const issue = issues.get(id);
    if (issue) issues.set(id, { ...issue, state });
  }

  function handOff({ issue, handoff }: EffectNamed<'hand-off'>): Extract<Event, { type: 'handoff-answered' }>['outcome'] {
    const state = issues.get(issue.id)?.state;
    if (state === undefined) return { kind: 'gone' };
    if (state === handoff.target) return { kind: 'succeeded' };
    if (stateIn(settings.tracker.terminalStates, state)) return { kind: 'terminal', state };
    if (!stateIn(settings.tracker.activeStates, state)) return { kind: 'moved', state };
    if (handedOff.has(handoff.runId) && !isEdited(issue.id)) violated(`run ${handoff.runId} was handed off twice`);
    handedOff.add(handoff.runId);
    edited.delete(issue.id);
    move(issue.id, handoff.target);
    return { kind: 'succeeded' };
  }

  /** Issues that people moved since we did: those may be moved again. */
  const edited = new Set<string>();
  const isEdited = (id: string): boolean => edited.has(id);

  function readWhat(effect: AskedEffect, now: number): Event {
    switch (effect.do) {
      case 'poll': {
        const candidates = maybe(() => inDispatchOrder([...issues.values()].filter(({ state }) => stateIn(ACTIVE, state))));
        const states = maybe(() => statesOf(effect.lookups));
        const spent = (candidates.ok ? candidates.value : []).flatMap(({ id }) => stored.get(id) ?? []);
        return { type: 'poll-answered', candidates, states, preflightProblem: null, spent };
      }
      case 'read-blockers':
        return { type: 'blockers-answered', blockers: new Map(effect.issues.map(({ id }) => [id, { ok: true, value: [] }])) };
      case 'read-candidate':
        return { type: 'candidate-read', issueId: effect.issue.id, issue: maybe(() => whole(effect.issue.id)) };
      case 'read-issue':
        return { type: 'issue-read', issueId: effect.issueId, issue: maybe(() => whole(effect.issueId)) };
      case 'read-terminal':
        return { type: 'cleanup-answered', issues: maybe(() => [...issues.values()].filter(({ state }) => state === 'done')) };
      case 'sweep':
        return {
          type: 'sweep-answered',
          missing: [],
          waiting: effect.waiting,
          states: maybe(() => statesOf([...effect.workspaces.map(({ issueId }) => issueId), ...effect.waiting])),
        };
      case 'inspect': {
        const { issue, mergeRequest, armedAt, facts } = effect.watch;
        const findings = { issueState: maybe(() => issues.get(issue.id)?.state ?? null), ...forge.inspect(effect, now) };
        const about = { issueId: issue.id, number: mergeRequest.number, armedAt, runs: facts.runs };
        return { type: 'inspected', ...about, due: effect.due, findings };
      }
      default:
        return { type: 'went-on' };
    }
  }

  function writeWhat(effect: AskedEffect): Event {
    switch (effect.do) {
      case 'hand-off':
        return { type: 'handoff-answered', issueId: effect.issue.id, runId: effect.handoff.runId, outcome: handOff(effect) };
      case 'write-out':
        // A comment that is there already is found by its words, and a label is set once.
        if (!comments.has(effect.entry.id)) comments.add(effect.entry.id);
        return { type: 'outbox-answered', id: effect.entry.id, fault: null };
      case 'merge': {
        const about = { issueId: effect.issueId, expectedSha: effect.order.expectedSha };
        return { type: 'merge-answered', ...about, outcome: forge.merge(effect) };
      }
      case 'delete-branch':
        forge.deleteBranch(effect.request.number);
        return { type: 'branch-deleted', issueId: effect.issueId, fault: null };
      case 'remove-label':
        forge.removeLabel(effect.request.number, effect.label);
        return { type: 'label-removed', issue: effect.issue, label: effect.label, fault: null };
      case 'complete':
        move(effect.issue.id, effect.target);
        return { type: 'completion-answered', issueId: effect.issue.id, fault: null };
      case 'remove-workspace': {
        const { issueId, identifier, why } = effect;
        const path = `/workspaces/${identifier}`;
        return { type: 'workspace-removed', aside: null, issueId, identifier, why, path, outcome: { ok: true, value: true } };
      }
      default:
        throw new Error(`${effect.do} writes nothing`);
    }
  }

  return {
    issues,
    live,
    written,
    forge,
    read: readWhat,
    write(effect) {
      count(effect.do);
      return writeWhat(effect);
    },
    sessionStarted(plan) {
      const other = live.get(plan.issue.id);
      if (other) violated(`two live sessions on issue ${plan.issue.id}: ${other.runId} and ${plan.runId}`);
      // Those of the leaders before may still be ending.
      const ofLeader = [...live.values()].filter(({ runId }) => leaderOf(runId) === leaderOf(plan.runId));
      if (ofLeader.length >= settings.agent.maxConcurrentAgents)
        violated(`${ofLeader.length + 1} sessions of one leader are live`);
      live.set(plan.issue.id, plan);
      forge.noteTurn(plan);
      count('session');
    },
    sessionEnded: (plan) => void (live.get(plan.issue.id) === plan && live.delete(plan.issue.id)),
    exitOf(plan) {
      const base = { turns: 1, fault: null, status: null };
      const scm = chance.happens(0.6) ? forge.push(plan) : null;
      if (isCalm || chance.happens(0.7)) return { kind: 'normal', ...base, scm };
      return { kind: 'error', ...base, scm: null, fault: { kind: 'turn_failed', message: 'it failed', consequence: 'back-off' } };
    },
    edit(now) {
      if (chance.happens(0.5)) return forge.edit(now);
      if (chance.happens(0.3) && issues.size < MOST_ISSUES) return add();
      const id = chance.pick([...issues.keys()]);
      edited.add(id);
      // A person who moves an issue releases a reaction that asked for one.
      forge.forgive(id);
      move(id, chance.pick([...ACTIVE, ...ACTIVE, ...OTHERS]));
    },
    calm(now) {
      isCalm = true;
      forge.calm(now);
    },
    isCalm: () => isCalm,
  };
}
