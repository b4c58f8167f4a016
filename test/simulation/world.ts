import type { Effect, RunPlan } from '../../src/domain/model/effect.ts';
import type { Fault, Answer } from '../../src/domain/model/errors.ts';
import type { Event, RunExit } from '../../src/domain/model/event.ts';
import { normalState, stateIn, type Blocker, type Issue } from '../../src/domain/model/issue.ts';
import type { Settings } from '../../src/domain/model/settings.ts';
import type { Chance } from '../support/random.ts';
import { createBoard, type Surroundings } from './board.ts';
import { createSimulatedForge, type SimulatedForge } from './forge.ts';

/** Tracker, agents and disk of the simulation. It answers effects with events, some time later, and may fail. */
export interface World {
  /** Carries out an effect now and queues what it reports back. */
  perform(effect: Effect, now: number): void;
  /** The earliest event that is due, or null. */
  take(now: number): Event | null;
  nextAt(): number;
  /** Everything under way is lost, live sessions die. */
  crash(): void;
  /** A person or robot changes something in the tracker. */
  edit(now: number): void;
  /** An operator gave the budgets of an issue back. */
  forgive(issueId: string): void;
  /** From now on nothing fails and nobody edits. */
  calm(now: number): void;
  /** Merge requests of other issues than these are watched no more. */
  watched(issueIds: ReadonlyMap<string, unknown>): void;
  readonly noteQueued: SimulatedForge['noteQueued'];
  readonly sessions: ReadonlyMap<string, RunPlan>;
  readonly issues: ReadonlyMap<string, Issue>;
  /** What the tracker took, in order: `<issue id>><state>`. */
  readonly transitions: readonly string[];
}

/** Of every reaction in the simulation. */
export const REACTION_BUDGET = 2;

export function createWorld(chance: Chance, around: Surroundings, violated: (what: string) => void): World {
  const { place } = around;
  const board = createBoard(chance, around);
  const { issues, transitions } = board;
  const sessions = new Map<string, RunPlan>();
  let queue: { at: number; event: Event; runId?: string }[] = [];
  const forge = createSimulatedForge(chance, FAULT, { budget: REACTION_BUDGET, place }, violated);
  let isCalm = false;

  function later(event: Event, now: number, spread: number, runId?: string): void {
    queue.push({ at: now + 1 + chance.below(spread), event, ...(runId ? { runId } : {}) });
  }

  function maybe<T>(value: () => T, probability = 0.08): Answer<T> {
    return !isCalm && chance.happens(probability) ? { ok: false, fault: FAULT } : { ok: true, value: value() };
  }

  function startSession(plan: RunPlan, now: number): void {
    const { id } = plan.issue;
    checkIdentity('a session', plan.settings);
    for (const other of sessions.values()) if (other.issue.id === id) violated(`two live sessions on issue ${id}`);
    checkSlots(plan);
    sessions.set(plan.runId, plan);
    forge.noteTurn(plan);
    const ids = { issueId: id, runId: plan.runId };
    let at = now;
    const say = (event: Event): void => {
      at += 1 + chance.below(2_000);
      queue.push({ at, event, runId: plan.runId });
    };
    say({ type: 'state-seen', ...ids, state: issues.get(id)?.state ?? '' });
    say({ type: 'run-prepared', ...ids, workspacePath: `/workspaces/${plan.issue.identifier}` });
    say({ type: 'session-started', ...ids, sessionId: `s-${plan.runId}` });
    const turns = 1 + chance.below(3);
    for (let turn = 1; turn <= turns; turn += 1) {
      say({ type: 'turn-started', ...ids, turn });
      const input = turn * 100;
      const tokens = { inputTokens: input, outputTokens: turn, totalTokens: input + turn, cacheReadTokens: 0 };
      say({ type: 'agent-spoke', ...ids, event: { type: 'usage', tokens } });
      if (!isCalm && chance.happens(0.03)) return; // it hangs: only a timeout ends it
      say({ type: 'turn-completed', ...ids, turn });
    }
    say({ type: 'run-exited', ...ids, exit: { ...exitOf(turns), scm: chance.happens(0.7) ? forge.push(plan) : null } });
  }

  /** Nothing is done here for another tracker than the one whose world this is. */
  function checkIdentity(what: string, { tracker }: Settings): void {
    if (tracker.identity !== place.identity) violated(`${what} of ${tracker.identity} on an issue of ${place.identity}`);
  }

  function checkSlots(plan: RunPlan): void {
    const { maxConcurrentAgents, maxConcurrentAgentsByState } = plan.settings.agent;
    if (sessions.size + around.busyElsewhere() >= maxConcurrentAgents) violated(`more than ${maxConcurrentAgents} sessions`);
    const limit = maxConcurrentAgentsByState[normalState(plan.issue.state)];
    const same = [...sessions.values()].filter(
      (other) => normalState(other.issue.state) === normalState(plan.issue.state),
    ).length;
    if (limit !== undefined && same >= limit) violated(`more than ${limit} sessions of state ${plan.issue.state}`);
  }

  function exitOf(turns: number): RunExit {
    const base = { turns, fault: null, status: null, scm: null };
    if (isCalm || chance.happens(0.6)) return { kind: 'normal', ...base };
    if (chance.happens(0.2))
      return {
        kind: 'normal',
        ...base,
        status: { word: chance.pick(['blocked', 'no-change-needed', 'needs-human-review']), statement: 'why' },
      };
    const consequence = chance.pick(['back-off', 'back-off', 'back-off-at-cap', 'park', 'pause-agent'] as const);
    return { kind: 'error', ...base, fault: { kind: 'turn_failed', message: 'it failed', consequence } };
  }

  function stopSession(runId: string, now: number): void {
    const plan = sessions.get(runId);
    if (!plan) return;
    queue = queue.filter((entry) => entry.runId !== runId);
    const exit: RunExit = { kind: 'cancelled', turns: 0, fault: null, status: null, scm: null };
    later({ type: 'run-exited', issueId: plan.issue.id, runId, exit }, now, 6_000, runId);
  }

  function handOff(effect: Extract<Effect, { do: 'hand-off' }>, now: number): void {
    const { issue, handoff, settings } = effect;
    checkIdentity('a handoff', settings);
    const outcome = handoffOutcome(issue.id, handoff.target, settings);
    later({ type: 'handoff-answered', issueId: issue.id, runId: handoff.runId, outcome }, now, 3_000);
  }

  function handoffOutcome(
    id: string,
    target: string,
    settings: Settings,
  ): Extract<Event, { type: 'handoff-answered' }>['outcome'] {
    if (!isCalm && chance.happens(0.15)) {
      const kind = chance.pick(['tracker_auth_error', 'tracker_transport_error', 'tracker_payload_error']);
      return {
        kind: 'failed',
        fault: { ...FAULT, kind, consequence: kind === 'tracker_transport_error' ? 'back-off' : 'back-off-at-cap' },
      };
    }
    const state = issues.get(id)?.state;
    if (state === undefined) return { kind: 'gone' };
    if (state === target) return { kind: 'succeeded' };
    if (stateIn(settings.tracker.terminalStates, state)) return { kind: 'terminal', state };
    if (!stateIn(settings.tracker.activeStates, state)) return { kind: 'moved', state };
    board.move(id, target);
    return { kind: 'succeeded' };
  }

  return {
    sessions,
    issues,
    transitions,
    perform(effect, now) {
      if (effect.do !== 'announce' && effect.do !== 'stop-run' && effect.do !== 'start-run' && !isCalm && chance.happens(0.01))
        return later({ type: 'effect-failed', effect, fault: FAULT }, now, 2_000);
      switch (effect.do) {
        case 'announce':
          return;
        case 'poll': {
          const event: Event = {
            type: 'poll-answered',
            candidates: effect.onlyStates ? { ok: true, value: [] } : maybe(board.candidates),
            states: maybe(() => board.states(effect.lookups)),
            preflightProblem: !isCalm && chance.happens(0.02) ? 'agent missing' : null,
            spent: board.candidates().flatMap(({ id }) => around.stored.get(id) ?? []),
          };
          return later(event, now, 4_000);
        }
        case 'read-blockers': {
          const blockers = new Map(effect.issues.map((issue) => [issue.id, maybe<readonly Blocker[]>(() => [], 0.3)] as const));
          return later({ type: 'blockers-answered', blockers }, now, 2_000);
        }
        case 'go-on':
          return later({ type: 'went-on' }, now, 100);
        case 'read-candidate': {
          const issue = issues.get(effect.issue.id);
          return later(
            { type: 'candidate-read', issueId: effect.issue.id, issue: maybe(() => (issue ? board.readWhole(issue) : null)) },
            now,
            2_000,
          );
        }
        case 'read-issue': {
          const issue = issues.get(effect.issueId);
          return later(
            { type: 'issue-read', issueId: effect.issueId, issue: maybe(() => (issue ? board.readWhole(issue) : null)) },
            now,
            2_000,
          );
        }
        case 'start-run':
          return startSession(effect.plan, now);
        case 'stop-run':
          return stopSession(effect.runId, now);
        case 'hand-off':
          return handOff(effect, now);
        case 'write-out':
          return later({ type: 'outbox-answered', id: effect.entry.id, fault: maybe(() => null).ok ? null : FAULT }, now, 2_000);
        case 'read-terminal':
          return later(
            { type: 'cleanup-answered', issues: maybe(() => [...issues.values()].filter((issue) => issue.state === 'done')) },
            now,
            2_000,
          );
        case 'sweep':
          return later(
            {
              type: 'sweep-answered',
              missing: [],
              states: maybe(() => board.states(effect.workspaces.map(({ issueId }) => issueId))),
            },
            now,
            2_000,
          );
        case 'inspect': {
          const { issue, mergeRequest, armedAt, facts } = effect.watch;
          const issueState = maybe(() => issues.get(issue.id)?.state ?? null);
          const findings = { issueState, ...forge.inspect(effect, now) };
          return later(
            {
              type: 'inspected',
              issueId: issue.id,
              number: mergeRequest.number,
              armedAt,
              runs: facts.runs,
              due: effect.due,
              findings,
            },
            now,
            3_000,
          );
        }
        case 'merge':
          return later(
            {
              type: 'merge-answered',
              issueId: effect.issueId,
              expectedSha: effect.order.expectedSha,
              outcome: forge.merge(effect),
            },
            now,
            3_000,
          );
        case 'delete-branch':
          forge.deleteBranch(effect.request.number);
          return later(
            { type: 'branch-deleted', issueId: effect.issueId, fault: maybe(() => null).ok ? null : FAULT },
            now,
            3_000,
          );
        case 'remove-label':
          forge.removeLabel(effect.request.number, effect.label);
          return later({ type: 'label-removed', issueId: effect.issueId, label: effect.label, fault: null }, now, 2_000);
        case 'complete': {
          const done = maybe(() => board.move(effect.issue.id, effect.target), 0.2);
          return later({ type: 'completion-answered', issueId: effect.issue.id, fault: done.ok ? null : FAULT }, now, 3_000);
        }
        case 'remove-workspace': {
          const { issueId, identifier, why } = effect;
          for (const plan of sessions.values())
            if (plan.issue.id === issueId) violated(`workspace of running issue ${issueId} removed`);
          return later(
            {
              type: 'workspace-removed',
              aside: null,
              issueId,
              identifier,
              why,
              path: `/workspaces/${identifier}`,
              outcome: maybe(() => true),
            },
            now,
            2_000,
          );
        }
      }
    },
    take(now) {
      let due: (typeof queue)[number] | undefined;
      for (const entry of queue) if (entry.at <= now && (due === undefined || entry.at < due.at)) due = entry;
      if (!due) return null;
      queue.splice(queue.indexOf(due), 1);
      if (due.event.type === 'run-exited') sessions.delete(due.event.runId);
      return due.event;
    },
    nextAt() {
      let earliest = Infinity;
      for (const entry of queue) if (entry.at < earliest) earliest = entry.at;
      return earliest;
    },
    crash() {
      queue = [];
      sessions.clear();
    },
    edit(now) {
      if (chance.happens(0.5)) forge.edit(now);
      else board.edit();
    },
    forgive: forge.forgive,
    noteQueued: forge.noteQueued,
    watched: forge.watched,
    calm(now) {
      isCalm = true;
      for (const issue of new Map(issues).values()) board.approve(issue);
      forge.calm(now);
    },
  };
}

const FAULT: Fault = {
  kind: 'tracker_transport_error',
  message: 'tracker: tracker_transport_error: GET /: refused',
  consequence: 'back-off',
};
