import { decide as realDecide } from '../../src/domain/decide.ts';
import type { Effect } from '../../src/domain/model/effect.ts';
import type { Event } from '../../src/domain/model/event.ts';
import { stateIn } from '../../src/domain/model/issue.ts';
import { nextWake } from '../../src/domain/events/on-clock.ts';
import type { OperatorRequest } from '../../src/domain/model/operator.ts';
import { createChance } from '../support/random.ts';
import { createServiceModel } from './durable-model.ts';
import { edited, randomSettings } from './settings.ts';
import { createTracked, type Decide, type Tracked } from './tracked.ts';
import { HERE, STRANGER, THERE } from './board.ts';

export type { Decide } from './tracked.ts';

export interface SimulationResult {
  readonly events: number;
  readonly crashes: number;
  readonly handoffs: number;
  /** How often each sort of effect was asked for; runs that a reaction started count under its name. */
  readonly done: ReadonlyMap<string, number>;
}

const HOUR_MS = 3_600_000;

/** A broken promise, with all that is needed to see it again. */
export class Violation extends Error {}

/**
 * Lives through months of operation in seconds: a virtual clock, random edits, outcomes and faults, and crashes
 * between any event and its effects. Two trackers take each other's place at any moment, while runs of the one that was
 * left go on. Throws a Violation at the first broken promise. Then everything calms down, and every issue that may run
 * must have been handed off in the end.
 */
export function simulate(seed: number, eventCount: number, decide: Decide = realDecide): SimulationResult {
  const chance = createChance(seed);
  let now = 1_700_000_000_000;
  let events = 0;
  let crashes = 0;
  let opened = 0;
  const done = new Map<string, number>();
  const lately: { at: number; event: Event | 'crash'; identity: string }[] = [];
  const violated = (what: string): never => {
    throw new Violation(`seed ${seed}, event ${events}: ${what}\n${lately.slice(-12).map(lineOf).join('\n')}`);
  };
  const count = (name: string): void => void done.set(name, (done.get(name) ?? 0) + 1);
  const context = { chance, decide, violated, count, service: createServiceModel() };
  const settings = randomSettings(chance, HERE);
  /** What the loops tell each other: passed on once the event that led to it is over. */
  const news: Event[] = [];
  const here: Tracked = createTracked(HERE, settings, { ...context, busyElsewhere: () => there.world.sessions.size, tell });
  const there: Tracked = createTracked(THERE, edited(chance, THERE, settings), {
    ...context,
    busyElsewhere: () => here.world.sessions.size,
    tell,
  });
  /** The one that the workflow file names. */
  let active = here;
  let toldElsewhere = 0;
  boot(active);

  function other(tracked: Tracked): Tracked {
    return tracked === here ? there : here;
  }

  function boot(tracked: Tracked): void {
    opened += 1;
    tracked.boot(`i${crashes}t${opened}`, now);
  }

  function feed(tracked: Tracked, event: Event, mayCrash: boolean): void {
    events += 1;
    remember(tracked, event);
    const crashAt = (steps: number): number => (mayCrash && chance.happens(0.002) ? chance.below(steps) : Infinity);
    if (tracked.feed(event, now, crashAt) === 'crashed') return crash();
    passOn(tracked);
    tracked.check(now);
    if (tracked !== active) tracked.retire();
    if (tracked !== active || toldElsewhere < 0) countElsewhere();
  }

  /** Pauses hold for the service, whichever tracker met them. */
  function tell({ notice }: Extract<Effect, { do: 'announce' }>): void {
    if (notice.name === 'agent:kind:paused') news.push({ type: 'agent-paused', pause: notice.facts });
    if (notice.name === 'agent:kind:resumed') news.push({ type: 'agent-resumed', agentKind: notice.facts.agentKind });
    if (notice.name === 'operator:request:answered' && !('identifier' in notice.facts.request))
      news.push({ type: 'service-paused', pause: context.service.operatorPause });
  }

  function passOn(from: Tracked): void {
    for (const event of news.splice(0)) {
      other(from).feed(event, now, () => Infinity);
      other(from).check(now);
    }
  }

  /** Sessions of the tracker that was left take up slots of the one that is watched. */
  function countElsewhere(): void {
    const running = [...(other(active).state?.claims.values() ?? [])].filter(({ phase }) => phase !== 'waiting').length;
    if (running === toldElsewhere) return;
    toldElsewhere = running;
    active.feed({ type: 'sessions-elsewhere', running }, now, () => Infinity);
  }

  function remember({ place }: Tracked, event: Event | 'crash'): void {
    lately.push({ at: now, event, identity: place.identity });
    if (lately.length > 64) lately.splice(0, 52);
  }

  function crash(): void {
    crashes += 1;
    remember(active, 'crash');
    news.length = 0;
    for (const tracked of [here, there]) tracked.die();
    now += chance.below(60_000);
    toldElsewhere = 0;
    boot(active);
  }

  /** Goes to the next moment at which anything happens and lets it happen. */
  function step(mayCrash: boolean): void {
    const both = chance.happens(0.5) ? [here, there] : [there, here];
    if (arrives(both, mayCrash)) return;
    const wakes = both.filter(isAtWork).map((tracked) => ({ tracked, at: nextWake(tracked.state) }));
    const wake = Math.min(...wakes.map(({ at }) => at), ...both.map(({ world }) => world.nextAt()));
    if (wake === Infinity) violated('nothing is due and nothing is under way');
    now = Math.max(now + 1, wake);
    if (arrives(both, mayCrash)) return;
    const due = wakes.find(({ at }) => at <= now);
    feed(due?.tracked ?? active, { type: 'clock' }, mayCrash);
  }

  function arrives(both: readonly Tracked[], mayCrash: boolean): boolean {
    for (const tracked of both) {
      const event = tracked.world.take(now);
      if (event === null) continue;
      feed(tracked, event, mayCrash);
      return true;
    }
    return false;
  }

  while (events < eventCount) {
    if (chance.happens(0.03)) chance.pick([active, active, other(active)]).world.edit(now);
    if (chance.happens(0.005)) feed(active, { type: 'refresh-requested', byPerson: true }, true);
    if (chance.happens(0.01)) unparkSomething();
    if (chance.happens(0.004)) operatorActs();
    if (chance.happens(isLooking(active) ? 0.03 : 0.006)) editWorkflow();
    if (chance.happens(other(active).state === null ? 0.004 : 0.02)) swapTracker();
    if (chance.happens(0.002)) suspend();
    if (chance.happens(0.002)) setClock();
    step(true);
  }
  for (const { world } of [here, there]) world.calm(now);
  operatorAsks({ kind: 'resume' }, false);
  settle();
  swapTracker();
  settle();
  return { events, crashes, handoffs: here.world.transitions.length + there.world.transitions.length, done };

  /** The machine sleeps for hours, the agents' programs with it. What happened elsewhere meanwhile arrives when it wakes up. */
  function suspend(): void {
    const byMs = 1_000 + chance.below(6 * HOUR_MS);
    now += byMs;
    count('suspend');
    tellAll({ type: 'woke-late', byMs });
  }

  /** Somebody sets the clock, by an hour at most: nothing takes longer or shorter for it. */
  function setClock(): void {
    const byMs = chance.below(2 * HOUR_MS) - HOUR_MS;
    now += byMs;
    count('clock set');
    for (const { world } of [here, there]) world.shift(byMs);
    tellAll({ type: 'clock-jumped', byMs });
  }

  /** To every loop, before anything else. */
  function tellAll(event: Event): void {
    const alive = crashes;
    for (const tracked of [here, there].filter(isAtWork)) if (crashes === alive) feed(tracked, event, true);
  }

  /** An edit of the workflow file, at any moment. */
  function editWorkflow(): void {
    active.settings = edited(chance, active.place, active.settings);
    count('edit');
    feed(active, { type: 'settings-changed', settings: active.settings }, true);
  }

  /** The workflow file names the other tracker. One whose runs are not over goes on; the records of any other wake up. */
  function swapTracker(): void {
    const before = active;
    const next = other(before);
    const alive = crashes;
    next.settings = edited(chance, next.place, next.settings);
    active = next;
    count(next.state === null ? 'swap' : 'swap back');
    toldElsewhere = -1;
    if (next.state === null) boot(next);
    else feed(next, { type: 'settings-changed', settings: next.settings }, true);
    if (crashes === alive) feed(before, { type: 'tracker-left' }, true);
  }

  function unparkSomething(): void {
    const parked = [...(active.state?.parked.values() ?? [])];
    if (parked.length > 0) operatorAsks({ kind: 'unpark', identifier: chance.pick(parked).issue.identifier }, true);
  }

  /** A person stops, retries, pauses or resumes, sensibly or not. */
  function operatorActs(): void {
    const known = [...(active.state?.claims.values() ?? [])].map((claim) => claim.issue.identifier);
    const identifier = known.length > 0 && chance.happens(0.9) ? chance.pick(known) : 'nobody-1';
    const kind = chance.pick(['stop', 'retry', 'pause', 'resume', 'resume'] as const);
    operatorAsks(kind === 'stop' || kind === 'retry' ? { kind, identifier } : { kind, reason: 'a reason' }, true);
  }

  /** Ids of the issues the service knows by this identifier; the tracker may have lost them. */
  function withStoredIdentity(identifier: string): string[] {
    const { parked, claims, watches } = active.state ?? {};
    const known = [parked, claims, watches].flatMap((each) => [...(each?.values() ?? [])].map(({ issue }) => issue));
    return known.filter((issue) => issue.identifier === identifier).map(({ id }) => id);
  }

  function operatorAsks(request: OperatorRequest, mayCrash: boolean): void {
    if (request.kind === 'unpark' || request.kind === 'retry')
      for (const issueId of withStoredIdentity(request.identifier)) active.world.forgive(issueId);
    feed(
      active,
      {
        type: 'operator-asked',
        asked: { id: `${events}`, request, tracker: active.place.identity, by: 'somebody', hasRuns: false },
      },
      mayCrash,
    );
  }

  /** With no more faults, every issue that is free to run reaches its handoff in bounded time, and what was left ends. */
  function settle(): void {
    const deadline = now + 3 * 86_400_000;
    while (unfinished(active).length > 0 || other(active).state !== null) {
      if (now > deadline) violated(`never ran: ${unfinished(active).join(', ')}, or the tracker that was left never ended`);
      unparkSomething();
      step(false);
    }
  }
}

/** While a request is looked at, an edit is worth more: what was read before it must not be acted upon. */
function isLooking({ state }: Tracked): boolean {
  return (state?.pending.inspect?.size ?? 0) > 0;
}

function isAtWork(tracked: Tracked): tracked is Tracked & { readonly state: NonNullable<Tracked['state']> } {
  return tracked.state !== null;
}

function unfinished({ world, settings }: Tracked): readonly string[] {
  return [...world.issues.values()]
    .filter((issue) => stateIn(settings.tracker.activeStates, issue.state) && !issue.isClosed && !isBlocked(world, issue.id))
    .filter((issue) => settings.tracker.authors === 'anyone' || issue.author !== STRANGER)
    .map((issue) => issue.id);
}

/** Whether an issue waits for another one that is not terminal; those cannot finish here. */
function isBlocked({ issues }: Tracked['world'], id: string): boolean {
  const blockers = issues.get(id)?.blockedBy ?? [];
  return blockers.some((blocker) => blocker.id !== id && (issues.get(blocker.id)?.state ?? 'done') !== 'done');
}

/** One line of what happened last, for a violation. */
function lineOf({ at, event, identity }: { at: number; event: Event | 'crash'; identity: string }): string {
  const plain = (_key: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);
  return `${at} ${identity} ${event === 'crash' ? '-- crash --' : JSON.stringify(event, plain).slice(0, 300)}`;
}
