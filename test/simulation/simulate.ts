import { decide as realDecide } from '../../src/domain/decide.ts';
import type { Decision, Effect, RunPlan } from '../../src/domain/model/effect.ts';
import type { Event } from '../../src/domain/model/event.ts';
import { stateIn } from '../../src/domain/model/issue.ts';
import { nextWake } from '../../src/domain/events/on-clock.ts';
import { recover } from '../../src/domain/recover.ts';
import type { OperatorRequest } from '../../src/domain/model/operator.ts';
import type { ReactionSettings, Settings } from '../../src/domain/model/settings.ts';
import type { State } from '../../src/domain/model/state.ts';
import { createChance, type Chance } from '../support/random.ts';
import { settingsWith } from '../support/settings.ts';
import { applyWrites, createDurableModel, differences, loadModel } from './durable-model.ts';
import { APPROVED, createWorld, REACTION_BUDGET, STRANGER } from './world.ts';

export type Decide = (state: State, event: Event, now: number) => Decision;

export interface SimulationResult {
  readonly events: number;
  readonly crashes: number;
  readonly handoffs: number;
  /** How often each sort of effect was asked for; runs that a reaction started count under its name. */
  readonly done: ReadonlyMap<string, number>;
}

/** A broken promise, with all that is needed to see it again. */
export class Violation extends Error {}

/**
 * Lives through months of operation in seconds: a virtual clock, random edits, outcomes and faults, and crashes
 * between any event and its effects. Throws a Violation at the first broken promise. Then everything calms down, and
 * every issue that may run must have been handed off in the end.
 */
export function simulate(seed: number, eventCount: number, decide: Decide = realDecide): SimulationResult {
  const chance = createChance(seed);
  let settings = randomSettings(chance);
  /** What each run of this process began with. */
  const begunWith = new Map<string, Settings>();
  const store = createDurableModel();
  const attempts = new Map<string, number>();
  let now = 1_700_000_000_000;
  let events = 0;
  let crashes = 0;
  const done = new Map<string, number>();
  const lately: { at: number; event: Event | 'crash' }[] = [];
  const violated = (what: string): never => {
    throw new Violation(`seed ${seed}, event ${events}: ${what}\n${lately.slice(-12).map(lineOf).join('\n')}`);
  };
  const world = createWorld(chance, settings.agent, violated, store.spent);
  let state = boot();

  function boot(): State {
    const decision = recover(settings, loadModel(store), `i${crashes}`, now);
    applyWrites(store, decision.writes);
    for (const effect of decision.effects) world.perform(effect, now);
    return decision.state;
  }

  /** Decides, stores, does; and dies at any point in between when chance says so. */
  function feed(event: Event, mayCrash: boolean): void {
    events += 1;
    remember(event);
    const decision = decide(state, event, now);
    const crashAt = mayCrash && chance.happens(0.002) ? chance.below(decision.effects.length + 2) : Infinity;
    if (crashAt === 0) return crash();
    applyWrites(store, decision.writes);
    state = decision.state;
    for (const [index, effect] of decision.effects.entries()) {
      if (index + 1 === crashAt) return crash();
      count(effect.do === 'start-run' ? effect.plan.trigger : effect.do);
      checkEffect(effect);
      world.perform(effect, now);
    }
    if (crashAt <= decision.effects.length + 1) return crash();
    check();
  }

  /** What is done must be done for whom it began, and only for those who may ask for it. */
  function checkEffect(effect: Effect): void {
    if (state.lifecycle === 'leaving' && BEGINNINGS.has(effect.do))
      violated(`${effect.do} for a tracker that is no longer watched`);
    if (effect.do === 'start-run') checkStart(effect.plan);
    if (effect.do !== 'hand-off') return;
    const began = begunWith.get(effect.handoff.runId);
    if (began && began !== effect.settings) violated(`run ${effect.handoff.runId} is handed off with the settings of another`);
  }

  function checkStart({ runId, issue, settings: own, issueAsRead }: RunPlan): void {
    if (own !== settings) violated(`run ${runId} begins with settings that are no longer in force`);
    begunWith.set(runId, own);
    const now = world.issues.get(issue.id);
    if (own.tracker.authors === 'collaborators' && now?.author === STRANGER) violated(`a stranger started run ${runId}`);
    if (own.tracker.approvalLabel === null) return;
    const approved = state.approvals.get(issue.id);
    if (!issueAsRead?.approvable) violated(`run ${runId} begins without an approval`);
    if (approved?.digest !== issueAsRead?.approvable?.digest) violated(`run ${runId} works on a text that nobody approved`);
  }

  function remember(event: Event | 'crash'): void {
    lately.push({ at: now, event });
    if (lately.length > 64) lately.splice(0, 52);
  }

  function count(name: string): void {
    done.set(name, (done.get(name) ?? 0) + 1);
  }

  function crash(): void {
    crashes += 1;
    remember('crash');
    begunWith.clear();
    world.crash();
    now += chance.below(60_000);
    state = boot();
  }

  function check(): void {
    const drift = differences(store, state);
    if (drift.length > 0) violated(`memory and store differ in ${drift.join(', ')}`);
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
    for (const [id, watch] of state.watches) {
      for (const [kind, progress] of Object.entries(watch.reactions)) {
        if (TURN_KINDS.has(kind) && progress.used > REACTION_BUDGET)
          violated(`budget of ${kind} on ${id} exceeded: ${progress.used}`);
      }
    }
    for (const id of attempts.keys()) if (!state.claims.has(id)) attempts.delete(id);
  }

  /** Goes to the next moment at which anything happens and lets it happen. */
  function step(mayCrash: boolean): void {
    const event = world.take(now);
    if (event) return feed(event, mayCrash);
    const wake = Math.min(nextWake(state), world.nextAt());
    if (wake === Infinity && state.lifecycle === 'leaving') return swapTracker();
    if (wake === Infinity) violated('nothing is due and nothing is under way');
    now = Math.max(now + 1, wake);
    const arrived = world.take(now);
    feed(arrived ?? { type: 'clock' }, mayCrash);
  }

  while (events < eventCount) {
    if (chance.happens(0.03)) world.edit(now);
    if (chance.happens(0.005)) feed({ type: 'refresh-requested' }, true);
    if (chance.happens(0.01)) unparkSomething();
    if (chance.happens(0.004)) operatorActs();
    if (chance.happens(0.004)) editWorkflow();
    if (chance.happens(state.lifecycle === 'leaving' ? 0.03 : 0.002)) swapTracker();
    step(true);
  }
  if (state.lifecycle === 'leaving') swapTracker();
  world.calm(now);
  operatorAsks({ kind: 'resume' }, false);
  settle();
  return { events, crashes, handoffs: world.transitions.length, done };

  /** An edit of the workflow file, at any moment. Slots and budgets stay, which others watch over. */
  function editWorkflow(): void {
    const { tracker, agent, ...rest } = settings;
    const edited = randomSettings(chance);
    settings = {
      ...rest,
      agent: { ...agent, maxTurns: 1 + chance.below(5), maxAttempts: edited.agent.maxAttempts },
      tracker: { ...tracker, ...trustOf(edited), comments: edited.tracker.comments },
    };
    count('edit');
    // While another tracker is watched, its settings are none of this one's.
    if (state.lifecycle === 'serving') feed({ type: 'settings-changed', settings }, true);
  }

  /** Another tracker takes the place of this one, or this one comes back. */
  function swapTracker(): void {
    count('swap');
    feed(state.lifecycle === 'leaving' ? { type: 'settings-changed', settings } : { type: 'tracker-left' }, true);
  }

  function unparkSomething(): void {
    const parked = [...state.parked.values()];
    if (parked.length > 0) operatorAsks({ kind: 'unpark', identifier: chance.pick(parked).issue.identifier }, true);
  }

  /** A person stops, retries, pauses or resumes, sensibly or not. */
  function operatorActs(): void {
    const known = [...state.claims.values()].map((claim) => claim.issue.identifier);
    const identifier = known.length > 0 && chance.happens(0.9) ? chance.pick(known) : 'nobody-1';
    const kind = chance.pick(['stop', 'retry', 'pause', 'resume', 'resume'] as const);
    operatorAsks(kind === 'stop' || kind === 'retry' ? { kind, identifier } : { kind, reason: 'a reason' }, true);
  }

  function operatorAsks(request: OperatorRequest, mayCrash: boolean): void {
    if (request.kind === 'unpark' || request.kind === 'retry') world.forgive(request.identifier);
    feed({ type: 'operator-asked', asked: { id: `${events}`, request, by: 'somebody', hasRuns: false } }, mayCrash);
  }

  /** With no more faults, every issue that is free to run must reach its handoff in bounded time. */
  function settle(): void {
    const deadline = now + 3 * 86_400_000;
    while (unfinished().length > 0) {
      if (now > deadline) violated(`never ran: ${unfinished().join(', ')}`);
      unparkSomething();
      step(false);
    }
  }

  function unfinished(): readonly string[] {
    return [...world.issues.values()]
      .filter((issue) => stateIn(settings.tracker.activeStates, issue.state) && !isBlocked(issue.id, new Set()))
      .filter((issue) => settings.tracker.authors === 'anyone' || issue.author !== STRANGER)
      .map((issue) => issue.id);
  }

  /** Whether an issue waits for another one that is not terminal; those cannot finish here. */
  function isBlocked(id: string, seen: Set<string>): boolean {
    if (seen.has(id)) return true;
    const blockers = world.issues.get(id)?.blockedBy ?? [];
    return blockers.some((blocker) => blocker.id !== id && (world.issues.get(blocker.id)?.state ?? 'done') !== 'done');
  }
}

/** One line of what happened last, for a violation. */
function lineOf({ at, event }: { at: number; event: Event | 'crash' }): string {
  const plain = (_key: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);
  return `${at} ${event === 'crash' ? '-- crash --' : JSON.stringify(event, plain).slice(0, 300)}`;
}

const TURN_KINDS: ReadonlySet<string> = new Set(['ci_failure', 'review_comments', 'bot_review', 'merge_conflicts']);

/** Every reaction on, with budgets small enough to run out. */
const REACTIONS: ReactionSettings = (() => {
  const base = {
    pollIntervalMs: 20_000,
    watchWindowMs: 0,
    budget: REACTION_BUDGET,
    escalation: 'label',
    escalationLabel: 'needs-human',
  } as const;
  return {
    provider: 'nsproject',
    connection: null,
    projects: ['o/r'],
    votes: 'anyone',
    on: {
      ci_failure: { ...base, maxLogLines: 50 },
      review_comments: { ...base, debounceMs: 5_000, trust: 'anyone' },
      bot_review: { ...base, botUsernames: [], trust: 'anyone' },
      merge_conflicts: base,
      auto_merge: { ...base, strategy: 'squash', requireCi: true, deleteBranch: true, dryRun: false, ciGraceMs: 0 },
      merge_completion: { ...base, targetState: 'done' },
      label_commands: { ...base, reviewLabel: 'foray:review', fixLabel: 'foray:fix' },
    },
  };
})();

/** What a tracker must not begin any more once another one is watched. */
const BEGINNINGS: ReadonlySet<Effect['do']> = new Set(['start-run', 'read-candidate', 'read-issue', 'inspect', 'merge', 'sweep']);

function trustOf({ tracker }: Settings): Pick<Settings['tracker'], 'authors' | 'approvalLabel'> {
  return { authors: tracker.authors, approvalLabel: tracker.approvalLabel };
}

function randomSettings(chance: Chance) {
  return settingsWith({
    agent: {
      maxConcurrentAgents: 1 + chance.below(4),
      maxConcurrentAgentsByState: chance.happens(0.5) ? { todo: 1 + chance.below(2) } : {},
      maxAttempts: chance.pick([0, 0, 2, 4]),
      maxSessions: chance.pick([0, 0, 6]),
      maxTokens: chance.pick([0, 0, 2_000]),
      stallTimeoutMs: 60_000,
    },
    rest: chance.happens(0.6) ? { reactions: REACTIONS } : {},
    tracker: {
      authors: chance.happens(0.3) ? 'collaborators' : 'anyone',
      approvalLabel: chance.happens(0.3) ? APPROVED : null,
      handoffState: 'review',
      comments: { onDispatch: chance.happens(0.3), onCompletion: chance.happens(0.3), onFailure: true },
    },
  });
}
