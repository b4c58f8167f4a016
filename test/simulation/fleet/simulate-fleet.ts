import { decide as realDecide } from '../../../src/domain/decide.ts';
import { isRecorded } from './recorded.ts';
import type { AskedEffect, Effect } from '../../../src/domain/model/effect.ts';
import { stateIn } from '../../../src/domain/model/issue.ts';
import type { IssueRequestKind } from '../../../src/domain/model/operator.ts';
import type { ReactionSettings, Settings } from '../../../src/domain/model/settings.ts';
import { createChance, type Chance } from '../../support/random.ts';
import { settingsWith } from '../../support/settings.ts';
import { differences } from '../durable-model.ts';
import { Violation, type Decide } from '../simulate.ts';
import { createUnbegunTurns } from '../unbegun-turns.ts';
import { createDaemons, killDaemon, report, startDaemon, type Daemon, type DaemonsDeps, type LeaderTerm } from './daemons.ts';
import { createDatabase, type DatabaseFlaws } from './database.ts';
import { createTimeline, type Actor } from './timeline.ts';
import { createWire } from './wire.ts';
import { createFleetWorld, REACTION_BUDGET } from './world.ts';
import { createWorkers, type Worker } from './workers.ts';

export interface FleetResult {
  readonly events: number;
  /** Leaders that were killed, changes of leader, and moves of issues. */
  readonly crashes: number;
  readonly epochs: number;
  readonly handoffs: number;
  /** How often each kind of write arrived, and sessions. */
  readonly done: ReadonlyMap<string, number>;
}

/** A rule that is broken on purpose, to see that it is noticed. */
export interface FleetFlaws extends DatabaseFlaws {
  readonly decide?: Decide;
  /** Leaders do not ask before they write. */
  readonly isGateOpen?: boolean;
}

const START = 1_700_000_000_000;
const QUIET_MS = 6 * 3_600_000;

/**
 * Several daemons on one database, and workers: killed, standing still, cut off and healed at any moment, with questions,
 * answers and words lost and doubled. One live session for an issue over the whole fleet, no write to the world by an
 * epoch that is over, each write recorded before it is tried, memory equal to the store, nothing lost in the end.
 */
export function simulateFleet(seed: number, eventCount: number, flaws: FleetFlaws = {}): FleetResult {
  const chance = createChance(seed);
  const counted = { events: 0, crashes: 0 };
  const violated = (what: string): never => {
    throw new Violation(`fleet seed ${seed}, event ${counted.events}: ${what}`);
  };
  const timeline = createTimeline(chance, START);
  const database = createDatabase(flaws);
  const settings = randomSettings(chance);
  const world = createFleetWorld(chance, settings, database.records.spent, violated);
  const wire = createWire(timeline, chance);
  const deps: DaemonsDeps = {
    timeline,
    chance,
    database,
    wire,
    world,
    settings,
    isGateOpen: flaws.isGateOpen ?? false,
    decide(state, event, now) {
      counted.events += 1;
      return (flaws.decide ?? realDecide)(state, event, now);
    },
    onStored: checkReign,
    onAsked: checkRecord,
    onWrite: checkEpoch,
  };
  const unbegun = createUnbegunTurns(world.forge.noteDropped);
  // Two of three share a host: their successor begins at once what ran there.
  const daemons = createDaemons(['host-a', 'host-b', 'host-a'], deps);
  const workers = createWorkers(3, deps);

  function checkReign({ state }: LeaderTerm): void {
    const drift = differences(database.records, state);
    if (drift.length > 0) violated(`memory and store differ in ${drift.join(', ')}`);
    for (const [id, claim] of state.claims) {
      if (claim.phase === 'running' && !state.live.has(id)) violated(`claim of ${id} without a live entry`);
      if (state.parked.has(id)) violated(`issue ${id} is claimed and parked`);
    }
    unbegun.settle(state.claims);
    world.forge.watched(state.watches);
    for (const [id, watch] of state.watches)
      for (const [kind, { used }] of Object.entries(watch.reactions))
        if (TURN_KINDS.has(kind) && used > REACTION_BUDGET) violated(`budget of ${kind} on ${id} exceeded: ${used}`);
  }

  function checkRecord(effect: Effect): void {
    if (!isRecorded(database.records, effect)) violated(`${effect.do} was not recorded before it was tried`);
    if (effect.do !== 'announce' || effect.notice.name !== 'reaction:turn:queued') return;
    const { issue, kind } = effect.notice.facts;
    unbegun.queued(issue.id, kind);
    world.forge.noteQueued(issue.id, kind, [], settings.reactions);
  }

  function checkEpoch(effect: AskedEffect, epoch: number): void {
    if (epoch !== database.epoch()) violated(`${effect.do} by epoch ${epoch} while ${database.epoch()} leads`);
    if (effect.do === 'remove-workspace' && database.records.claims.get(effect.issueId)?.phase === 'running')
      violated(`the workspace of issue ${effect.issueId} was removed under its run`);
  }

  while (counted.events < eventCount) {
    if (chance.happens(0.004)) world.edit(timeline.now());
    if (chance.happens(0.003)) disturb();
    if (chance.happens(0.02)) meddle();
    if (!timeline.step()) violated('nothing is left to happen');
  }
  heal();
  const deadline = timeline.now() + QUIET_MS;
  while (unfinished().length > 0) {
    if (timeline.now() > deadline) violated(`never ran: ${unfinished().join(', ')}`);
    if (!timeline.step()) violated('nothing is left to happen');
    unparkAll();
  }
  return { ...counted, epochs: database.epoch(), handoffs: world.written.get('hand-off') ?? 0, done: world.written };

  /** Something happens to one of the processes. */
  function disturb(): void {
    const actor = chance.pick<Daemon | Worker>([...daemons, ...workers.all, ...leading()]);
    const ms = chance.pick([500, 2_500, 8_000, 25_000, 40_000, 70_000]) + chance.below(2_000);
    if (chance.happens(0.4)) return void (actor.cutUntil = timeline.now() + ms);
    if (chance.happens(0.5)) return freeze(actor, ms);
    if (!actor.isAlive) return;
    counted.crashes += 1;
    if (isWorker(actor)) workers.kill(actor);
    else killDaemon(actor);
    timeline.after(chance.below(60_000), null, () => revive(actor));
  }

  /** A person asks the leader for something, at whatever moment, or edits the workflow file. */
  function meddle(): void {
    const [daemon] = leading();
    if (daemon === undefined) return;
    if (chance.happens(0.1)) return report(daemon, { type: 'settings-changed', settings }, deps);
    const held = [...(daemon.term?.state.claims.values() ?? [])].map(({ issue }) => issue);
    // What is under way is asked for most.
    const { id, identifier } = chance.pick(held.length > 0 && chance.happens(0.5) ? held : [...world.issues.values()]);
    const kind = chance.pick(['stop', 'retry', 'unpark'] as const);
    // Those two give the budgets of reactions back.
    if (kind !== 'stop') world.forge.forgive(id);
    report(daemon, operatorAsks(`${counted.events}`, kind, identifier), deps);
  }

  function leading(): readonly Daemon[] {
    return daemons.filter(({ term }) => term !== null);
  }

  function freeze(actor: Daemon | Worker, ms: number): void {
    if (!actor.isAlive || actor.frozenUntil > timeline.now()) return;
    if (isWorker(actor)) workers.freeze(actor, ms);
    else actor.frozenUntil = timeline.now() + ms;
  }

  function revive(actor: Daemon | Worker): void {
    if (actor.isAlive) return;
    if (isWorker(actor)) workers.start(actor);
    else startDaemon(actor, deps);
  }

  /** Nothing is disturbed any more, and nobody edits. */
  function heal(): void {
    world.calm(timeline.now());
    for (const actor of [...daemons, ...workers.all] as (Actor & (Daemon | Worker))[]) {
      actor.cutUntil = 0;
      revive(actor);
    }
  }

  function unparkAll(): void {
    for (const daemon of leading())
      for (const { issue } of daemon.term?.state.parked.values() ?? []) {
        world.forge.forgive(issue.id);
        report(daemon, operatorAsks(`${counted.events}`, 'unpark', issue.identifier), deps);
      }
  }

  function unfinished(): readonly string[] {
    return [...world.issues.values()].filter(({ state }) => stateIn(settings.tracker.activeStates, state)).map(({ id }) => id);
  }

  function isWorker(actor: Daemon | Worker): actor is Worker {
    return 'held' in actor;
  }
}

function operatorAsks(id: string, kind: IssueRequestKind, identifier: string) {
  const request = { kind, identifier };
  return { type: 'operator-asked', asked: { id, request, tracker: '', by: 'somebody', hasRuns: false } } as const;
}

const TURN_KINDS: ReadonlySet<string> = new Set(['ci_failure', 'review_comments', 'bot_review', 'merge_conflicts']);

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
      merge_conflicts: base,
      auto_merge: { ...base, strategy: 'squash', requireCi: true, deleteBranch: true, dryRun: false, ciGraceMs: 0 },
      merge_completion: { ...base, targetState: 'done' },
      label_commands: { ...base, reviewLabel: 'foray:review', fixLabel: 'foray:fix' },
    },
  };
})();

function randomSettings(chance: Chance): Settings {
  return settingsWith({
    agent: {
      maxConcurrentAgents: 2 + chance.below(4),
      stallTimeoutMs: 60_000,
      maxRetryBackoffMs: chance.pick([200, 60_000]),
      runOn: [],
    },
    rest: { reactions: REACTIONS },
    tracker: { handoffState: 'review', comments: { onDispatch: true, onCompletion: true, onFailure: true } },
  });
}
