import { isRetired } from '../domain/decide.ts';
import type { Event } from '../domain/model/event.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { State } from '../domain/model/state.ts';
import { createInterpreter } from '../orchestrator/interpret.ts';
import { createLoop, type Loop } from '../orchestrator/loop.ts';
import type { SteadyClock } from '../ports/runtime.ts';
import type { Store } from '../ports/store.ts';
import { createSshRunner } from '../runners/ssh/index.ts';
import type { SshHosts } from '../runners/ssh/hosts.ts';
import { createPlacedRunner } from '../runners/placed.ts';
import type { RunParts } from '../runners/queue/given-runs.ts';
import type { QueueRunner } from '../runners/queue/index.ts';
import { whileLeading, type Leading } from './while-leading.ts';
import type { BuiltAdapters } from './build-adapters.ts';
import { withCrashPoints } from './crash-points.ts';

export interface WatchedTrackersDeps {
  readonly store: Pick<Store, 'enter' | 'load' | 'apply'>;
  readonly clock: SteadyClock;
  /** Prefix of run ids, unique to this process. */
  readonly instance: string;
  readonly announce: (notice: Notice) => void;
  /** Looks at an event on its way to a loop: hides secrets in it. */
  readonly screen: (event: Event) => Event;
  readonly onStoreFault: (fault: unknown, tries: number) => void;
  readonly killed: AbortSignal;
  readonly hosts: SshHosts;
  readonly queue: () => QueueRunner | null;
  /** How long runs that were under way must wait before they start again. */
  readonly resumeDelayMs: number;
  /** Asked before anything is done to the world; null where this daemon has its database alone. */
  readonly leading: Leading | null;
}

/**
 * The tracker that is watched, and those watched before whose runs are not over yet. Each has a loop, records and
 * adapters of its own, so that nothing of one can reach an issue of another.
 */
export interface WatchedTrackers {
  /** Begins, or goes on, with the tracker of these adapters. One that was watched before is left. */
  watch(adapters: BuiltAdapters): Promise<void>;
  /** Lets the loops run. */
  start(...first: readonly Event[]): void;
  loops(): readonly Loop[];
  /** The loop of the tracker that is watched. */
  active(): Loop;
  adapters(): BuiltAdapters;
  /** The states of all of them, the watched one first. Another list whenever one of them changed. */
  states(): readonly State[];
  /** Hands an event to the loop of a tracker. */
  report(identity: string, event: Event): void;
  findPreflightProblem(): Promise<string | null>;
  stop(): void;
  kill(): void;
  /** Settles when every loop has ended; rejects when one failed. */
  readonly done: Promise<void>;
}

interface Watched {
  readonly identity: string;
  readonly loop: Loop;
  adapters: BuiltAdapters;
  /** Those that each settings were made into: a run keeps the ones it began with. */
  readonly bySettings: WeakMap<object, BuiltAdapters>;
}

export function createWatchedTrackers(deps: WatchedTrackersDeps): WatchedTrackers {
  const all = new Map<string, Watched>();
  let active: Watched | null = null;
  let started = false;
  let opened = 0;
  let elsewhere = 0;
  let seen: readonly State[] = [];
  let finish = (_fault?: unknown): void => {};
  const done = new Promise<void>((resolve, reject) => {
    finish = (fault) => (fault === undefined ? resolve() : reject(fault));
  });

  const current = (): Watched => {
    if (active === null) throw new Error('no tracker is watched yet');
    return active;
  };
  const findPreflightProblem = async () => {
    const { agent, workspaces } = current().adapters;
    return (await agent.findProblem()) ?? (await workspaces.findProblem());
  };

  async function open(adapters: BuiltAdapters): Promise<Watched> {
    const { settings, names } = adapters.workflow;
    const { identity } = settings.tracker;
    for (const foreign of await deps.store.enter(names)) if (!all.has(foreign.identity)) tellForeign(foreign, deps.announce);
    opened += 1;
    const bySettings = new WeakMap<object, BuiltAdapters>();
    const own = (): BuiltAdapters => watched.adapters;
    const builtFor = (ofRun: Settings): BuiltAdapters => bySettings.get(ofRun) ?? own();
    const report = (event: Event): void => watched.loop.report(deps.screen(event));
    const announce = (notice: Notice): void => hear(watched, notice);
    const loop = createLoop(
      settings,
      await deps.store.load(identity),
      `${deps.instance}${opened > 1 ? `t${opened}` : ''}`,
      withCrashPoints({
        store: { apply: (writes) => deps.store.apply(identity, writes) },
        clock: deps.clock,
        onStoreFault: deps.onStoreFault,
        resumeDelayMs: deps.resumeDelayMs,
        // A server comes back; a full disk needs a person, and a restart.
        ...(deps.leading === null ? {} : { storePatienceMs: Infinity }),
        interpret: whileLeading(
          deps.leading,
          createInterpreter({
            adapters: own,
            adaptersOf: builtFor,
            report,
            announce,
            findPreflightProblem,
            runner: createPlacedRunner({
              queue: deps.queue,
              partsOf: ({ settings: ofRun }) => partsOf(builtFor(ofRun)),
              here: createSshRunner({
                hosts: deps.hosts,
                adaptersOf: ({ settings: ofRun }) => builtFor(ofRun),
                adaptersOn: ({ settings: ofRun }, host) => ({ ...builtFor(ofRun), ...builtFor(ofRun).there.get(host) }),
                killed: deps.killed,
              }),
            }),
            killed: deps.killed,
          }),
        ),
      }),
    );
    const watched: Watched = { identity, loop, adapters, bySettings };
    loop.done.then(() => close(watched), finish);
    return watched;
  }

  function close(watched: Watched): void {
    if (all.get(watched.identity) === watched) all.delete(watched.identity);
    if (watched !== active) countElsewhere();
    if (all.size === 0) finish();
  }

  /** What a tracker has to tell is told to all; some of it matters to the one that is watched now. */
  function hear(watched: Watched, notice: Notice): void {
    deps.announce(notice);
    if (watched === active) return;
    if (notice.name === 'agent:kind:paused') active?.loop.report({ type: 'agent-paused', pause: notice.facts });
    countElsewhere();
  }

  function countElsewhere(): void {
    const others = [...all.values()].filter((watched) => watched !== active);
    const running = others.reduce((sum, { loop }) => sum + busyClaims(loop.state()), 0);
    if (running !== elsewhere) active?.loop.report({ type: 'sessions-elsewhere', running });
    elsewhere = running;
  }

  return {
    done,
    findPreflightProblem,
    start(...first) {
      started = true;
      for (const { loop } of all.values()) loop.start(...first);
    },
    loops: () => [...all.values()].map(({ loop }) => loop),
    active: () => current().loop,
    adapters: () => current().adapters,
    states() {
      const rest = [...all.values()].filter((watched) => watched !== active);
      const states = [current(), ...rest].map(({ loop }) => loop.state());
      if (states.length !== seen.length || states.some((state, index) => state !== seen[index])) seen = states;
      return seen;
    },
    report: (identity, event) => all.get(identity)?.loop.report(deps.screen(event)),
    async watch(adapters) {
      const { settings } = adapters.workflow;
      // Before the start a tracker may turn out to be another one, which no loop ran for yet.
      if (!started) for (const name of all.keys()) if (name !== settings.tracker.identity) all.delete(name);
      const before = started ? active : null;
      const known = all.get(settings.tracker.identity);
      const next = known && !isRetired(known.loop.state()) ? known : await open(adapters);
      next.adapters = adapters;
      next.bySettings.set(settings, adapters);
      all.set(next.identity, next);
      active = next;
      if (before !== null && before !== next) before.loop.report({ type: 'tracker-left' });
      if (started) {
        if (next === known) next.loop.report({ type: 'settings-changed', settings });
        else next.loop.start();
      }
      elsewhere = 0;
      countElsewhere();
    },
    stop() {
      for (const { loop } of all.values()) loop.report({ type: 'stop-requested' });
    },
    kill() {
      for (const { loop } of all.values()) loop.kill();
    },
  };
}

function partsOf({ tracker, workflow }: BuiltAdapters): RunParts {
  return { tracker, template: { body: workflow.body, line: workflow.bodyLine } };
}

function busyClaims(state: State): number {
  return [...state.claims.values()].filter((claim) => claim.phase !== 'waiting').length;
}

function tellForeign({ identity: _identity, ...facts }: Foreign, announce: (notice: Notice) => void): void {
  announce({ name: 'tracker:records:left', facts });
}

type Foreign = Awaited<ReturnType<Store['enter']>>[number];
