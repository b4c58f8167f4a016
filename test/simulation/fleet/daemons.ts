import { nextWake } from '../../../src/domain/events/on-clock.ts';
import { EFFECTS, type AskedEffect, type Decision, type Effect } from '../../../src/domain/model/effect.ts';
import type { Event } from '../../../src/domain/model/event.ts';
import type { Settings } from '../../../src/domain/model/settings.ts';
import type { State } from '../../../src/domain/model/state.ts';
import { recover } from '../../../src/domain/recover.ts';
import { CONFIRMED_MS, LEADER_BEAT_MS, LEADER_CUT_OFF_MS } from '../../../src/domain/model/lease-times.ts';
import type { Chance } from '../../support/random.ts';
import type { Decide } from '../simulate.ts';
import type { Database, Won } from './database.ts';
import { createQueue, type Queue } from './queue.ts';
import { createActor, type Actor, type Timeline } from './timeline.ts';
import type { Wire } from './wire.ts';
import { FAULT, type FleetWorld } from './world.ts';

/** A daemon: stands by, or leads with the real core under an epoch. */
export interface Daemon extends Actor {
  term: LeaderTerm | null;
}

/** A turn to lead. Whatever belongs to it ends with it. */
export interface LeaderTerm {
  readonly epoch: number;
  state: State;
  readonly inbox: Event[];
  /** A unit of work is on its way to the database. */
  isStoring: boolean;
  confirmedAt: number;
  readonly waiting: (() => void)[];
  readonly queue: Queue;
  /** When the next clock event is planned for. */
  wakeAt: number;
}

export interface DaemonsDeps {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly database: Database;
  readonly wire: Wire;
  readonly world: FleetWorld;
  readonly settings: Settings;
  readonly decide: Decide;
  /** A unit was stored and is in force: the moment to compare memory and store. */
  readonly onStored: (term: LeaderTerm) => void;
  /** An effect that was stored is about to be carried out. */
  readonly onAsked: (effect: Effect) => void;
  /** A write arrives at tracker or forge, from a leader of this epoch. */
  readonly onWrite: (effect: AskedEffect, epoch: number) => void;
  readonly isGateOpen?: boolean;
}

/** How long a write is under way at most after it left: less than a leader that was confirmed has left. */
const UNDER_WAY_MS = 900;

export function createDaemons(hosts: readonly string[], deps: DaemonsDeps): readonly Daemon[] {
  return hosts.map((host, index) => {
    const daemon: Daemon = Object.assign(createActor(`d${index}`, host), { term: null });
    deps.timeline.after(deps.chance.below(LEADER_BEAT_MS), daemon, () => beat(daemon, deps));
    return daemon;
  });
}

export function startDaemon(daemon: Daemon, deps: DaemonsDeps): void {
  Object.assign(daemon, { isAlive: true, life: daemon.life + 1, frozenUntil: 0, term: null });
  deps.timeline.after(deps.chance.below(3_000), daemon, () => beat(daemon, deps));
}

export function killDaemon(daemon: Daemon): void {
  Object.assign(daemon, { isAlive: false, term: null });
}

/** Another life: nothing that was begun under the epoch goes on. */
function lose(daemon: Daemon, deps: DaemonsDeps): void {
  deps.database.dropLock(daemon);
  startDaemon(daemon, deps);
}

function beat(daemon: Daemon, deps: DaemonsDeps): void {
  const { timeline } = deps;
  if (daemon.term === null) tryToLead(daemon, deps);
  else renew(daemon, daemon.term, deps);
  timeline.after(LEADER_BEAT_MS, daemon, () => beat(daemon, deps));
}

function renew(daemon: Daemon, term: LeaderTerm, deps: DaemonsDeps): void {
  const { wire, database, timeline } = deps;
  const asked = timeline.now();
  wire.ask(
    daemon,
    () => database.renew(term.epoch, timeline.now()),
    (answer) => {
      if (answer.ok && !answer.value) return lose(daemon, deps);
      if (!answer.ok && timeline.now() - term.confirmedAt > LEADER_CUT_OFF_MS) return lose(daemon, deps);
      if (!answer.ok) return;
      term.confirmedAt = asked;
      if (timeline.now() - asked < CONFIRMED_MS) for (const go of term.waiting.splice(0)) go();
    },
  );
}

function tryToLead(daemon: Daemon, deps: DaemonsDeps): void {
  const { wire, database, timeline } = deps;
  const asked = timeline.now();
  wire.ask(
    daemon,
    () => database.tryToLead(daemon, timeline.now()),
    (answer) => {
      if (!answer.ok) return database.dropLock(daemon);
      if (answer.value !== null && daemon.term === null) begin(daemon, answer.value, asked, deps);
    },
  );
}

function begin(daemon: Daemon, { epoch, durable, elsewhere }: Won, asked: number, deps: DaemonsDeps): void {
  const { timeline, settings } = deps;
  const first = recover(settings, durable, `e${epoch}`, timeline.now(), elsewhere);
  const queue = createQueue({
    ...deps,
    daemon,
    epoch,
    report: (event) => report(daemon, event, deps),
    lose: () => lose(daemon, deps),
  });
  const term: LeaderTerm = {
    epoch,
    state: first.state,
    inbox: [],
    isStoring: false,
    confirmedAt: asked,
    waiting: [],
    queue,
    wakeAt: Infinity,
  };
  daemon.term = term;
  queue.look();
  carryOut(daemon, term, first, deps);
  report(daemon, { type: 'clock' }, deps);
}

/** Hands an event to the loop of whoever leads here. */
export function report(daemon: Daemon, event: Event, deps: DaemonsDeps): void {
  const { term } = daemon;
  if (term === null) return;
  term.inbox.push(event);
  pump(daemon, term, deps);
}

/** Decides what has come in, stores it under the epoch, and only then does it. */
function pump(daemon: Daemon, term: LeaderTerm, deps: DaemonsDeps): void {
  if (term.isStoring || term.inbox.length === 0) return rest(daemon, term, deps);
  const events = term.inbox.splice(0, 1 + deps.chance.below(3));
  const unit: Decision = { state: term.state, writes: [], effects: [] };
  const together = events.reduce<Decision>((sum, event) => {
    const next = deps.decide(sum.state, event, deps.timeline.now());
    return { state: next.state, writes: [...sum.writes, ...next.writes], effects: [...sum.effects, ...next.effects] };
  }, unit);
  carryOut(daemon, term, together, deps);
}

function carryOut(daemon: Daemon, term: LeaderTerm, unit: Decision, deps: DaemonsDeps): void {
  const { wire, database } = deps;
  const stored = (): void => {
    term.isStoring = false;
    term.state = unit.state;
    if (term.epoch === database.epoch()) deps.onStored(term);
    for (const effect of unit.effects) {
      if (term.epoch === database.epoch()) deps.onAsked(effect);
      whileLeading(term, deps, () => interpret(daemon, term, effect, deps));
    }
    pump(daemon, term, deps);
  };
  if (unit.writes.length === 0) return stored();
  term.isStoring = true;
  wire.askUntilHeard(
    daemon,
    () => database.store(term.epoch, unit.writes),
    (isStored) => (isStored ? stored() : lose(daemon, deps)),
  );
}

/** Resting until something falls due. */
function rest(daemon: Daemon, term: LeaderTerm, deps: DaemonsDeps): void {
  const { timeline } = deps;
  if (term.isStoring) return;
  const at = Math.max(timeline.now() + 1, nextWake(term.state));
  if (at >= term.wakeAt && term.wakeAt > timeline.now()) return;
  term.wakeAt = at;
  if (at === Infinity) return;
  timeline.after(at - timeline.now(), daemon, () => {
    if (term.wakeAt === at) report(daemon, { type: 'clock' }, deps);
  });
}

/** At once while the leader was confirmed a moment ago, else with the next confirmation; never when it does not lead any more. */
function whileLeading(term: LeaderTerm, { timeline, isGateOpen = false }: DaemonsDeps, act: () => void): void {
  if (isGateOpen || timeline.now() - term.confirmedAt < CONFIRMED_MS) act();
  else term.waiting.push(act);
}

function interpret(daemon: Daemon, term: LeaderTerm, effect: Effect, deps: DaemonsDeps): void {
  const { timeline, chance, world } = deps;
  if (effect.do === 'announce') return;
  if (effect.do === 'start-run') return term.queue.start(effect.plan);
  if (effect.do === 'stop-run') return term.queue.stop(effect.runId, effect.issueId);
  const wait = 1 + chance.below(3_000);
  if (!EFFECTS[effect.do].isWrite) {
    return timeline.after(wait, daemon, () =>
      report(
        daemon,
        answerTo(effect, deps, () => world.read(effect, timeline.now())),
        deps,
      ),
    );
  }
  // It reads first and may stand still at any moment; right before the write leaves it asks whether it still leads.
  timeline.after(wait, daemon, () => whileLeading(term, deps, () => send(daemon, term, effect, deps)));
}

function send(daemon: Daemon, term: LeaderTerm, effect: AskedEffect, deps: DaemonsDeps): void {
  const { timeline, chance, world } = deps;
  timeline.after(chance.below(UNDER_WAY_MS), null, () => {
    if (!world.isCalm() && chance.happens(0.03)) return answer(failed(effect));
    deps.onWrite(effect, term.epoch);
    const done = world.write(effect, timeline.now());
    // The answer may be lost: then it is not known whether anything was done.
    answer(!world.isCalm() && chance.happens(0.03) ? failed(effect) : done);
  });
  const { life } = daemon;
  const answer = (event: Event): void => {
    if (daemon.isAlive && daemon.life === life)
      timeline.after(1 + chance.below(500), daemon, () => daemon.term === term && report(daemon, event, deps));
  };
}

function answerTo(effect: AskedEffect, { world, chance }: DaemonsDeps, read: () => Event): Event {
  return !world.isCalm() && chance.happens(0.01) ? failed(effect) : read();
}

function failed(effect: AskedEffect): Event {
  return { type: 'effect-failed', effect, fault: FAULT };
}
