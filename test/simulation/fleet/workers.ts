import type { RunPlan } from '../../../src/domain/model/effect.ts';
import type { Event, RunExit } from '../../../src/domain/model/event.ts';
import {
  GUARD_BEAT_MS,
  WORKER_BEAT_MS,
  WORKER_CUT_OFF_MS,
  WORKER_STOPPED_MS,
  WORKER_SURE_MS,
} from '../../../src/domain/model/lease-times.ts';
import type { Chance } from '../../support/random.ts';
import type { Database, GivenRow } from './database.ts';
import { createActor, type Actor, type Timeline } from './timeline.ts';
import type { Wire } from './wire.ts';
import type { FleetWorld } from './world.ts';

/** A worker: takes runs, keeps its agents alive, says what they do, and gives up what is not its own any more. */
export interface Worker extends Actor {
  heardAt: number;
  readonly held: Map<string, Session>;
  /** Given up while the database was out of reach: told when it is back. */
  readonly dropped: Set<string>;
  /** Jobs come once. */
  readonly taken: Set<string>;
}

interface Session {
  readonly plan: RunPlan;
  readonly worker: string;
  isLive: boolean;
  /** Nothing more is said for it. */
  isLost: boolean;
  readonly words: Event[];
  said: number;
  isSaying: boolean;
}

export interface WorkersDeps {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly database: Database;
  readonly wire: Wire;
  readonly world: FleetWorld;
}

export interface Workers {
  readonly all: readonly Worker[];
  kill(worker: Worker): void;
  start(worker: Worker): void;
  freeze(worker: Worker, ms: number): void;
}

const TAKE_MS = 1_000;
const STOP_GRACE_MS = 5_000;
/** What the guard beside a worker allows: it counts whole seconds since the last sign, which comes every two. */
const GUARD_MS = WORKER_STOPPED_MS + GUARD_BEAT_MS;

export function createWorkers(count: number, deps: WorkersDeps): Workers {
  const { timeline } = deps;
  const all = Array.from({ length: count }, (_, index): Worker => {
    const actor = createActor(`w${index}`, `worker-host-${index}`);
    const memory = { held: new Map<string, Session>(), dropped: new Set<string>(), taken: new Set<string>() };
    return Object.assign(actor, { heardAt: timeline.now(), ...memory });
  });
  const start = (worker: Worker): void => {
    Object.assign(worker, { isAlive: true, life: worker.life + 1, frozenUntil: 0, heardAt: timeline.now() });
    beat(worker, deps);
    watch(worker, deps);
    take(worker, deps);
  };
  const endAll = (worker: Worker): void => {
    for (const session of worker.held.values()) endAgent(session, deps);
  };
  for (const worker of all) start(worker);
  return {
    all,
    start,
    kill(worker) {
      worker.isAlive = false;
      const sessions = [...worker.held.values()];
      worker.held.clear();
      worker.dropped.clear();
      // The guard beside it hears at once that it is gone.
      timeline.after(50, null, () => sessions.forEach((session) => endAgent(session, deps)));
    },
    freeze(worker, ms) {
      const { life } = worker;
      worker.frozenUntil = timeline.now() + ms;
      timeline.after(GUARD_MS, null, () => {
        if (worker.life === life && worker.isAlive && worker.frozenUntil >= timeline.now()) endAll(worker);
      });
    },
  };
}

/** The worker as the database knows it: another one after each start. */
function idOf({ name, life }: Worker): string {
  return `${name}#${life}`;
}

function beat(worker: Worker, deps: WorkersDeps): void {
  const { timeline, wire, database } = deps;
  const asked = timeline.now();
  wire.ask(
    worker,
    () => database.beat(idOf(worker), timeline.now()),
    (answer) => {
      if (answer.ok) {
        worker.heardAt = asked;
        obey(worker, answer.value, deps);
      }
      timeline.after(WORKER_BEAT_MS, worker, () => beat(worker, deps));
    },
  );
}

function obey(worker: Worker, given: ReadonlyMap<string, GivenRow>, deps: WorkersDeps): void {
  for (const [runId, session] of worker.held) {
    const row = given.get(runId);
    if (row === undefined) lose(worker, runId, deps);
    else if (row.isToldToStop && session.isLive) stop(session, deps);
  }
  for (const runId of worker.dropped) {
    worker.dropped.delete(runId);
    const row = given.get(runId);
    if (row) sayOnce(worker, { runId, number: 999_999, event: exited(row.plan, errorExit('cut off')) }, deps);
  }
}

function watch(worker: Worker, deps: WorkersDeps): void {
  const { timeline } = deps;
  if (timeline.now() - worker.heardAt > WORKER_CUT_OFF_MS) {
    for (const runId of worker.held.keys()) {
      lose(worker, runId, deps);
      worker.dropped.add(runId);
    }
  }
  timeline.after(1_000, worker, () => watch(worker, deps));
}

function lose(worker: Worker, runId: string, deps: WorkersDeps): void {
  const session = worker.held.get(runId);
  if (!session) return;
  worker.held.delete(runId);
  session.isLost = true;
  const { timeline, chance } = deps;
  timeline.after(chance.below(STOP_GRACE_MS), null, () => endAgent(session, deps));
}

function stop(session: Session, deps: WorkersDeps): void {
  const { timeline, chance } = deps;
  timeline.after(chance.below(STOP_GRACE_MS), null, () => endAgent(session, deps));
}

/** The agent's process is gone, by whomever. */
function endAgent(session: Session, { world }: WorkersDeps): void {
  if (!session.isLive) return;
  session.isLive = false;
  world.sessionEnded(session.plan);
}

function take(worker: Worker, deps: WorkersDeps): void {
  const { timeline, wire, database, chance } = deps;
  const id = idOf(worker);
  wire.ask(
    worker,
    () => [...database.given.values()].filter((row) => row.worker === id),
    (answer) => {
      for (const row of answer.ok ? answer.value : []) {
        const { runId } = row.plan;
        if (worker.taken.has(runId)) continue;
        worker.taken.add(runId);
        const session = { plan: row.plan, worker: id, isLive: false, isLost: false, words: [], said: 0, isSaying: false };
        worker.held.set(runId, session);
        timeline.after(chance.below(3_000), worker, () => begin(worker, session, deps));
      }
      timeline.after(TAKE_MS, worker, () => take(worker, deps));
    },
  );
}

/** The agent starts where the run is surely still this worker's. */
function begin(worker: Worker, session: Session, deps: WorkersDeps): void {
  const { timeline, world, chance } = deps;
  const { plan } = session;
  if (session.isLost) return;
  if (timeline.now() - worker.heardAt > WORKER_SURE_MS) return timeline.after(500, worker, () => begin(worker, session, deps));
  session.isLive = true;
  world.sessionStarted(plan);
  const ids = { issueId: plan.issue.id, runId: plan.runId };
  let at = 0;
  const later = (event: () => Event): void => {
    at += 1 + chance.below(4_000);
    timeline.after(at, worker, () => session.isLive && tell(worker, session, event(), deps));
  };
  later(() => ({ type: 'run-prepared', ...ids, workspacePath: `/workspaces/${plan.issue.identifier}` }));
  later(() => ({ type: 'session-started', ...ids, sessionId: `s-${plan.runId}` }));
  later(() => ({ type: 'turn-started', ...ids, turn: 1 }));
  if (world.isCalm() || chance.happens(0.97)) later(() => ({ type: 'turn-completed', ...ids, turn: 1 }));
  const exit = world.exitOf(plan);
  watchAgent(worker, session, { endsAt: timeline.now() + at + chance.below(4_000), exit }, deps);
}

/** The agent ends by itself, or is ended; the worker hears of it when it can. */
function watchAgent(
  worker: Worker,
  session: Session,
  end: { readonly endsAt: number; readonly exit: RunExit },
  deps: WorkersDeps,
): void {
  const { timeline } = deps;
  timeline.after(500, worker, () => {
    const isDone = timeline.now() >= end.endsAt;
    if (session.isLive && !isDone) return watchAgent(worker, session, end, deps);
    const exit = session.isLive ? end.exit : errorExit('the agent was ended');
    endAgent(session, deps);
    if (!session.isLost) tell(worker, session, exited(session.plan, exit), deps);
  });
}

/** What a run says goes out one word after the other, again and again until the database has it. */
function tell(worker: Worker, session: Session, event: Event, deps: WorkersDeps): void {
  session.words.push(event);
  if (!session.isSaying) sayNext(worker, session, deps);
}

function sayNext(worker: Worker, session: Session, deps: WorkersDeps): void {
  const [event] = session.words;
  session.isSaying = event !== undefined && !session.isLost;
  if (event === undefined || session.isLost) return;
  const { wire, database, timeline, chance } = deps;
  const { runId } = session.plan;
  const word = { runId, number: session.said + 1, event };
  wire.askUntilHeard(
    worker,
    () => {
      // A packet may come twice, and late.
      if (chance.happens(0.05)) timeline.after(chance.below(20_000), null, () => void database.say(session.worker, word));
      return database.say(session.worker, word);
    },
    (isStored) => {
      if (!isStored) return lose(worker, runId, deps);
      session.said += 1;
      session.words.shift();
      if (event.type === 'run-exited') worker.held.delete(runId);
      sayNext(worker, session, deps);
    },
  );
}

function sayOnce(worker: Worker, word: Parameters<Database['say']>[1], { wire, database }: WorkersDeps): void {
  const id = idOf(worker);
  wire.askUntilHeard(
    worker,
    () => database.say(id, word),
    () => {},
  );
}

function exited({ issue, runId }: RunPlan, exit: RunExit): Event {
  return { type: 'run-exited', issueId: issue.id, runId, exit };
}

function errorExit(message: string): RunExit {
  const fault = { kind: 'worker_lost', message, consequence: 'back-off' } as const;
  return { kind: 'error', turns: 0, fault, status: null, scm: null };
}
