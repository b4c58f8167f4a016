import type { Effect, RunPlan } from '../../src/domain/model/effect.ts';
import type { Fault, Answer } from '../../src/domain/model/fault.ts';
import type { Event } from '../../src/domain/model/event.ts';
import { countClosed, type Blocker, type Issue } from '../../src/domain/model/issue.ts';
import type { Settings } from '../../src/domain/model/settings.ts';
import type { Chance } from '../support/random.ts';
import { createBoard, type HandoffOutcome, type Surroundings } from './board.ts';
import { createSimulatedForge, type SimulatedForge } from './forge.ts';
import { createMail } from './mail.ts';
import { createSessions } from './sessions.ts';

/** Tracker, agents and disk of the simulation. It answers effects with events, some time later, and may fail. */
export interface World {
  /** Carries out an effect now and queues what it reports back. */
  perform(effect: Effect, now: number): void;
  /** The earliest event that is due, or null. */
  take(now: number): Event | null;
  nextAt(): number;
  /** Everything under way is lost, live sessions die. */
  crash(): void;
  /** The clock was set. */
  shift(byMs: number): void;
  /** A person or robot changes something in the tracker. */
  edit(now: number): void;
  /** An operator gave the budgets of an issue back. */
  forgive(issueId: string): void;
  /** From now on nothing fails and nobody edits. */
  calm(now: number): void;
  /** Merge requests of other issues than these are watched no more. */
  watched(issueIds: ReadonlyMap<string, unknown>): void;
  readonly parked: SimulatedForge['parked'];
  readonly noteQueued: SimulatedForge['noteQueued'];
  readonly noteDropped: SimulatedForge['noteDropped'];
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
  const forge = createSimulatedForge(chance, FAULT, { budget: REACTION_BUDGET, place }, violated);
  /** Issues that the last read before another session showed closed. */
  const readAsClosed = new Set<string>();
  let isCalm = false;
  const mail = createMail(chance);
  const later = mail.send;
  const sessions = createSessions(chance, {
    mail,
    isCalm: () => isCalm,
    busyElsewhere: around.busyElsewhere,
    stateOf: (issueId) => issues.get(issueId)?.state ?? '',
    push: forge.push,
    violated,
  });

  function startSession(plan: RunPlan, now: number): void {
    checkIdentity('a session', plan.settings);
    if (plan.trigger !== 'fresh' && readAsClosed.has(plan.issue.id))
      violated(`another session for issue ${plan.issue.id}, which was read as closed`);
    forge.noteTurn(plan);
    sessions.start(plan, now);
  }

  function maybe<T>(value: () => T, probability = 0.08): Answer<T> {
    return !isCalm && chance.happens(probability) ? { ok: false, fault: FAULT } : { ok: true, value: value() };
  }

  /** Nothing is done here for another tracker than the one whose world this is. */
  function checkIdentity(what: string, { tracker }: Settings): void {
    if (tracker.identity !== place.identity) violated(`${what} of ${tracker.identity} on an issue of ${place.identity}`);
  }

  function handOff(effect: Extract<Effect, { do: 'hand-off' }>, now: number): void {
    const { issue, handoff, settings } = effect;
    checkIdentity('a handoff', settings);
    const outcome = handoffOutcome(issue.id, handoff.target, settings);
    later({ type: 'handoff-answered', issueId: issue.id, runId: handoff.runId, outcome }, now, 3_000);
  }

  function handoffOutcome(id: string, target: string, settings: Settings): HandoffOutcome {
    if (isCalm || !chance.happens(0.15)) return board.handOff(id, target, settings);
    const kind = chance.pick(['tracker_auth_error', 'tracker_transport_error', 'tracker_payload_error'] as const);
    const consequence = kind === 'tracker_transport_error' ? 'back-off' : 'back-off-at-cap';
    // The tracker did it, or the first half of it, and the answer was lost or spoiled on its way.
    if (kind !== 'tracker_auth_error' && chance.happens(0.4)) board.handOff(id, target, settings);
    return { kind: 'failed', fault: { ...FAULT, kind, consequence } };
  }

  return {
    sessions: sessions.all,
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
            states: maybe(() => countClosed(board.states(effect.lookups), board.closed(effect.lookups))),
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
          if (issue?.isClosed) readAsClosed.add(issue.id);
          else readAsClosed.delete(effect.issueId);
          return later(
            { type: 'issue-read', issueId: effect.issueId, issue: maybe(() => (issue ? board.readWhole(issue) : null)) },
            now,
            2_000,
          );
        }
        case 'start-run':
          return startSession(effect.plan, now);
        case 'stop-run':
          return sessions.stop(effect.runId, now);
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
              waiting: effect.waiting,
              states: maybe(() => board.states([...effect.workspaces.map(({ issueId }) => issueId), ...effect.waiting])),
            },
            now,
            2_000,
          );
        case 'inspect': {
          const { issue, mergeRequest, armedAt, facts } = effect.watch;
          const issueState = maybe(() => issues.get(issue.id)?.state ?? null);
          const isClosed = issueState.ok && board.closed([issue.id]).size > 0;
          const findings = { issueState, ...(isClosed && { issueClosed: CLOSED_ISSUE }), ...forge.inspect(effect, now) };
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
          return later({ type: 'label-removed', issue: effect.issue, label: effect.label, fault: null }, now, 2_000);
        case 'complete': {
          const done = maybe(() => board.move(effect.issue.id, effect.target), 0.2);
          if (!done.ok && chance.happens(0.4)) board.move(effect.issue.id, effect.target);
          return later({ type: 'completion-answered', issueId: effect.issue.id, fault: done.ok ? null : FAULT }, now, 3_000);
        }
        case 'remove-workspace': {
          const { issueId, identifier, why } = effect;
          for (const plan of sessions.all.values())
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
      const event = mail.take(now);
      if (event?.type === 'run-exited') sessions.ended(event.runId);
      return event;
    },
    nextAt: mail.nextAt,
    shift: mail.shift,
    crash() {
      mail.lose();
      sessions.die();
    },
    edit(now) {
      if (chance.happens(0.5)) return forge.edit(now);
      const moved = board.edit();
      // Whoever moves an issue releases what asked for a person.
      if (moved !== null) forge.forgive(moved);
    },
    forgive: forge.forgive,
    noteQueued: forge.noteQueued,
    noteDropped: forge.noteDropped,
    watched: forge.watched,
    parked: forge.parked,
    calm(now) {
      isCalm = true;
      for (const issue of new Map(issues).values()) board.approve(issue);
      forge.calm(now);
    },
  };
}

const CLOSED_ISSUE = { ok: true, value: true } as const;

const FAULT: Fault = {
  kind: 'tracker_transport_error',
  message: 'tracker: tracker_transport_error: GET /: refused',
  consequence: 'back-off',
};
