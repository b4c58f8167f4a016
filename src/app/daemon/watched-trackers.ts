import { isRetired } from '../../domain/decide.ts';
import type { Event, EventNamed } from '../../domain/model/event.ts';
import type { Notice } from '../../domain/model/notice.ts';
import { addTotals, NO_TOTALS, type State, type Totals } from '../../domain/model/state.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import type { Loop } from '../../orchestrator/loop.ts';
import type { ForeignRecords, Store } from '../../ports/store.ts';
import { saysTheSame, type BuiltAdapters } from '../adapters/build-adapters.ts';
import { processStart } from './process-start.ts';
import { activeOf, createStates, othersOf, type Roster } from './roster.ts';
import {
  openWatchedTracker,
  tellRetriesLeft,
  type WatchedTracker,
  type WatchedTrackerContext,
  type WatchedTrackerDeps,
} from './watched-tracker.ts';

export interface WatchedTrackersDeps extends WatchedTrackerDeps {
  readonly store: WatchedTrackerDeps['store'] & Pick<Store, 'enter'>;
  /** Prefix of run ids, unique to this process. */
  readonly instance: string;
  readonly announce: (notice: Notice) => void;
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
  /** What runs took of the trackers that are no longer there. */
  closed(): Totals;
  /** Hands an event to the loop of a tracker. */
  report(identity: string, event: Event): void;
  findPreflightProblem(): Promise<string | null>;
  stop(): void;
  kill(): void;
  /** Settles when every loop has ended; rejects when one failed. */
  readonly done: Promise<void>;
}

export function createWatchedTrackers(deps: WatchedTrackersDeps): WatchedTrackers {
  const roster: Roster = { all: new Map(), active: null };
  const { all } = roster;
  const elsewhere = createElsewhere(roster);
  const ending = createEnding();
  let closed = NO_TOTALS;
  const findPreflightProblem = async (): Promise<string | null> => {
    const { agent, workspaces } = activeOf(roster).adapters;
    return (await agent.findProblem()) ?? (await workspaces.findProblem());
  };

  /** What a tracker has to tell is told to all; a pause holds for every other one as well. */
  function hear(tracker: WatchedTracker, notice: Notice): void {
    deps.announce({ ...notice, tracker: tracker.identity });
    const pause = pauseIn(notice, tracker);
    if (pause !== null) for (const other of all.values()) if (other !== tracker) other.loop.report(pause);
    if (tracker !== roster.active) elsewhere.count();
  }

  function close(tracker: WatchedTracker): void {
    if (all.get(tracker.identity) === tracker) all.delete(tracker.identity);
    if (tracker !== roster.active) {
      closed = addTotals(closed, tracker.loop.state().totals);
      elsewhere.count();
      tellRetriesLeft(tracker, deps.announce);
    }
    if (all.size === 0) ending.finish();
  }

  const opening = createOpening(deps, roster, { hear, findPreflightProblem });
  const openUntilOver = async (adapters: BuiltAdapters): Promise<WatchedTracker> => {
    const tracker = await opening.open(adapters);
    tracker.loop.done.then(() => close(tracker), ending.fail);
    return tracker;
  };
  return {
    done: ending.done,
    findPreflightProblem,
    ...createWatching(roster, elsewhere, { ...opening, open: openUntilOver }),
    loops: () => [...all.values()].map(({ loop }) => loop),
    active: () => activeOf(roster).loop,
    adapters: () => activeOf(roster).adapters,
    states: createStates(roster),
    closed: () => closed,
    report: (identity, event) => all.get(identity)?.loop.report(deps.screen(event)),
    stop() {
      for (const { loop } of all.values()) loop.report({ type: 'stop-requested' });
    },
    kill() {
      for (const { loop } of all.values()) loop.kill();
    },
  };
}

interface Elsewhere {
  /** Tells the tracker that is watched when the number has changed. */
  count(): void;
  /** Another tracker is watched, which was told nothing yet. */
  countAnew(): void;
}

/** Agents are paused by their vendor and the service by a person, whatever tracker is watched; null for any other notice. */
function pauseIn(notice: Notice, { loop }: WatchedTracker): Event | null {
  if (notice.name === 'agent:kind:paused') return { type: 'agent-paused', pause: notice.facts };
  if (notice.name === 'agent:kind:resumed') return { type: 'agent-resumed', agentKind: notice.facts.agentKind };
  const isOfService = notice.name === 'operator:request:answered' && !('identifier' in notice.facts.request);
  return isOfService ? { type: 'service-paused', pause: loop.state().operatorPause } : null;
}

/** How many sessions of trackers watched before take up slots of the one that is watched. */
function createElsewhere(roster: Roster): Elsewhere {
  let told: number | null = null;
  const count = (): void => {
    const running = othersOf(roster).reduce((sum, { loop }) => sum + busyClaims(loop.state()), 0);
    if (running !== told) roster.active?.loop.report({ type: 'sessions-elsewhere', running });
    told = running;
  };
  return {
    count,
    countAnew() {
      told = null;
      count();
    },
  };
}

function busyClaims(state: State): number {
  return [...state.claims.values()].filter((claim) => claim.phase !== 'waiting').length;
}

/** A promise for the end of all loops. */
function createEnding() {
  let finish = (): void => {};
  let fail = (_fault: unknown): void => {};
  const done = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { done, finish, fail };
}

interface Opening {
  open(adapters: BuiltAdapters): Promise<WatchedTracker>;
  /** Tells once what is stored of trackers that nobody watches any more, as the last opening found it. */
  tellLeft(): void;
}

/** Opens one tracker after the other; the run ids of each have a prefix of their own. */
function createOpening(
  deps: WatchedTrackersDeps,
  roster: Roster,
  context: Omit<WatchedTrackerContext, 'instance' | 'startedAt'>,
): Opening {
  let opened = 0;
  let foreign: readonly ForeignRecords[] = [];
  return {
    async open(adapters) {
      opened += 1;
      crashPoint(`before entering tracker ${opened}`);
      foreign = await deps.store.enter(adapters.workflow.names);
      crashPoint(`after entering tracker ${opened}`);
      const instance = `${deps.instance}${opened > 1 ? `t${opened}` : ''}`;
      const startedAt = roster.active?.loop.state().startedAt ?? processStart(deps.clock);
      return openWatchedTracker(adapters, deps, { ...context, instance, startedAt });
    },
    tellLeft() {
      for (const { identity, ...facts } of foreign)
        if (!roster.all.has(identity)) deps.announce({ name: 'tracker:records:left', facts });
      foreign = [];
    },
  };
}

/** Goes from one tracker to the next; loops run from the start on. */
function createWatching(
  roster: Roster,
  elsewhere: Elsewhere,
  { open, tellLeft }: Opening,
): Pick<WatchedTrackers, 'watch' | 'start'> {
  const { all } = roster;
  let started = false;
  return {
    start(...first) {
      started = true;
      // Until then the tracker may turn out to be one that is stored under another name.
      tellLeft();
      for (const { loop } of all.values()) loop.start(...first);
    },
    async watch(adapters) {
      const { settings } = adapters.workflow;
      // Before the start a tracker may turn out to be another one, which no loop ran for yet.
      if (!started) for (const name of all.keys()) if (name !== settings.tracker.identity) all.delete(name);
      const before = started ? roster.active : null;
      const known = all.get(settings.tracker.identity);
      const next = known && !isRetired(known.loop.state()) ? known : await open(adapters);
      const isSame = saysTheSame(next.adapters, adapters);
      next.adapters = adapters;
      next.bySettings.set(settings, adapters);
      all.set(next.identity, next);
      roster.active = next;
      if (before !== null && before !== next) before.loop.report({ type: 'tracker-left' });
      if (started) {
        tellLeft();
        if (next === known) comeBack(next, before, { settings, isSame });
        else next.loop.start();
      }
      elsewhere.countAnew();
    },
  };
}

/** Goes on with a tracker, be it the one that was watched all the time; what was told meanwhile is not told again. */
function comeBack({ loop }: WatchedTracker, before: WatchedTracker | null, edit: Edit): void {
  if (before !== null && before.loop !== loop) loop.report({ type: 'news-told', told: [...before.loop.state().told.values()] });
  loop.report({ type: 'settings-changed', ...edit });
}

type Edit = Pick<EventNamed<'settings-changed'>, 'settings' | 'isSame'>;
