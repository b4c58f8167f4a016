import { isRetired } from '../../src/domain/decide.ts';
import type { Decision, Effect, RunPlan } from '../../src/domain/model/effect.ts';
import type { Event } from '../../src/domain/model/event.ts';
import type { Settings } from '../../src/domain/model/settings.ts';
import type { State } from '../../src/domain/model/state.ts';
import { recover } from '../../src/domain/recover.ts';
import type { Chance } from '../support/random.ts';
import {
  applyWrites,
  createDurableModel,
  differences,
  loadModel,
  type DurableModel,
  type ServiceModel,
} from './durable-model.ts';
import { STRANGER, type Place } from './board.ts';
import { createUnbegunTurns } from './unbegun-turns.ts';
import { createWorld, REACTION_BUDGET, type World } from './world.ts';

export type Decide = (state: State, event: Event, now: number) => Decision;

/** One tracker: its world, what is stored of it, and the state of its loop while there is one. */
export interface Tracked {
  readonly place: Place;
  readonly world: World;
  readonly store: DurableModel;
  /** Those of the workflow file while it named this tracker. */
  settings: Settings;
  /** Null while nobody works on it: then its records rest. */
  state: State | null;
  /** Begins with what is stored. */
  boot(instance: string, now: number): void;
  /** Decides, stores, does. What comes after the crash, counted in steps, does not happen. */
  feed(event: Event, now: number, crashAt: (steps: number) => number): 'done' | 'crashed';
  /** Every promise that can be seen from the outside is held. */
  check(now: number): void;
  /** The process died. */
  die(): void;
  /** A tracker that was left and has nothing more to do ends its loop; its records rest. */
  retire(): void;
}

export interface TrackedContext {
  readonly chance: Chance;
  readonly decide: Decide;
  readonly violated: (what: string) => never;
  readonly count: (what: string) => void;
  readonly service: ServiceModel;
  readonly busyElsewhere: () => number;
  /** What this tracker has to tell the others. */
  readonly tell: (effect: Extract<Effect, { do: 'announce' }>) => void;
}

export function createTracked(place: Place, settings: Settings, context: TrackedContext): Tracked {
  const { chance, decide, violated, count, service, busyElsewhere, tell } = context;
  const store = createDurableModel(service);
  /** What each run of this process began with. */
  const begunWith = new Map<string, Settings>();
  const attempts = new Map<string, number>();
  let isDurableChanged = true;
  const world = createWorld(chance, { place, settings: () => tracked.settings, busyElsewhere, stored: store.spent }, violated);
  const unbegun = createUnbegunTurns(world.noteDropped);

  /** What is done must be done for whom it began, and only for those who may ask for it. */
  function checkEffect(state: State, effect: Effect): void {
    if (state.lifecycle === 'leaving' && BEGINNINGS.has(effect.do))
      violated(`${effect.do} for a tracker that is no longer watched`);
    if (effect.do === 'start-run') checkStart(state, effect.plan);
    if (effect.do === 'announce') return checkNotice(state, effect);
    if (effect.do !== 'hand-off') return;
    const began = begunWith.get(effect.handoff.runId);
    if (began && began !== effect.settings) violated(`run ${effect.handoff.runId} is handed off with the settings of another`);
  }

  function checkNotice(state: State, effect: Extract<Effect, { do: 'announce' }>): void {
    const { notice } = effect;
    if (notice.name === 'reaction:turn:queued') {
      const { issue, kind } = notice.facts;
      const claim = state.claims.get(issue.id);
      const reaction = claim?.phase === 'waiting' && claim.then.kind === 'run' ? claim.then.reaction : null;
      unbegun.queued(issue.id, kind);
      world.noteQueued(issue.id, kind, reaction?.reviewComments ?? [], tracked.settings.reactions);
    }
    tell(effect);
  }

  function checkStart(state: State, plan: RunPlan): void {
    const { runId, settings: own } = plan;
    if (own !== tracked.settings) violated(`run ${runId} begins with settings that are no longer in force`);
    begunWith.set(runId, own);
    checkPeople(plan);
    if (own.tracker.approvalLabel !== null) checkApproval(state, plan);
  }

  function checkPeople({ runId, issue, settings, issueAsRead }: RunPlan): void {
    const { authors, approvalLabel } = settings.tracker;
    const author = world.issues.get(issue.id)?.author;
    if (authors === 'collaborators' && author === STRANGER) violated(`a stranger started run ${runId}`);
    const isScreened = authors === 'collaborators' || approvalLabel !== null;
    if (isScreened && issueAsRead?.comments?.some(({ writer }) => writer === STRANGER))
      violated(`a stranger speaks in the prompt of run ${runId}`);
  }

  function checkApproval({ approvals }: State, { runId, issue, issueAsRead }: RunPlan): void {
    const approvable = issueAsRead?.approvable;
    if (!approvable) violated(`run ${runId} begins without an approval`);
    if (approvals.get(issue.id)?.digest !== approvable?.digest) violated(`run ${runId} works on a text that nobody approved`);
  }

  function checkSessions(state: State): void {
    for (const plan of world.sessions.values()) {
      const claim = state.claims.get(plan.issue.id);
      if (claim?.phase !== 'running' || claim.runId !== plan.runId) violated(`session ${plan.runId} runs without its claim`);
    }
    for (const [id, claim] of state.claims) {
      if (claim.phase === 'running' && !world.sessions.has(claim.runId)) violated(`claim of ${id} without its session`);
      if (claim.phase === 'running' && !state.live.has(id)) violated(`claim of ${id} without a live entry`);
      if (claim.attempt < (attempts.get(id) ?? 0)) violated(`attempts of ${id} went down to ${claim.attempt}`);
      if (state.parked.has(id)) violated(`issue ${id} is claimed and parked`);
      attempts.set(id, claim.attempt);
    }
    for (const id of attempts.keys()) if (!state.claims.has(id)) attempts.delete(id);
  }

  function checkBudgets(state: State): void {
    world.watched(state.watches);
    world.parked(state.parked);
    for (const [id, watch] of state.watches) {
      for (const [kind, progress] of Object.entries(watch.reactions)) {
        if (TURN_KINDS.has(kind) && progress.used > REACTION_BUDGET)
          violated(`budget of ${kind} on ${id} exceeded: ${progress.used}`);
      }
    }
  }

  const tracked: Tracked = {
    place,
    world,
    store,
    settings,
    state: null,
    boot(instance, now) {
      const decision = recover(tracked.settings, loadModel(store), instance, now);
      applyWrites(store, decision.writes);
      tracked.state = decision.state;
      for (const effect of decision.effects) world.perform(effect, now);
    },
    feed(event, now, crashAt) {
      if (tracked.state === null) return 'done';
      const decision = decide(tracked.state, event, now);
      isDurableChanged ||= decision.writes.length > 0 || DURABLE.some((part) => decision.state[part] !== tracked.state?.[part]);
      const at = crashAt(decision.effects.length + 2);
      if (at === 0) return 'crashed';
      applyWrites(store, decision.writes);
      tracked.state = decision.state;
      unbegun.settle(decision.state.claims);
      for (const [index, effect] of decision.effects.entries()) {
        if (index + 1 === at) return 'crashed';
        count(effect.do === 'start-run' ? effect.plan.trigger : effect.do);
        checkEffect(decision.state, effect);
        world.perform(effect, now);
      }
      return at <= decision.effects.length + 1 ? 'crashed' : 'done';
    },
    check(now) {
      if (tracked.state === null) return;
      const drift = isDurableChanged ? differences(store, tracked.state, now) : [];
      isDurableChanged = false;
      if (drift.length > 0) violated(`memory and store differ in ${drift.join(', ')}`);
      checkSessions(tracked.state);
      checkBudgets(tracked.state);
    },
    die() {
      begunWith.clear();
      world.crash();
      tracked.state = null;
    },
    retire() {
      if (tracked.state === null || !isRetired(tracked.state)) return;
      if (world.sessions.size > 0) violated('a tracker that was left ends while a session runs');
      count('retire');
      tracked.die();
    },
  };
  return tracked;
}

/** What must be stored with every change; what agents say changes none of it. */
const DURABLE = [
  'claims',
  'parked',
  'outbox',
  'workspaces',
  'spent',
  'pauses',
  'watches',
  'approvals',
  'operatorPause',
  'told',
] as const;

const TURN_KINDS: ReadonlySet<string> = new Set(['ci_failure', 'review_comments', 'bot_review', 'merge_conflicts']);

/** What a tracker must not begin any more once another one is watched. */
const BEGINNINGS: ReadonlySet<Effect['do']> = new Set(['start-run', 'read-candidate', 'read-issue', 'inspect', 'merge', 'sweep']);
