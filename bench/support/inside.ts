import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { forgetOldRuns } from '../../src/app/daemon/forget-runs.ts';
import type { Effect, EffectNamed, RunPlan } from '../../src/domain/model/effect.ts';
import type { Event, EventNamed } from '../../src/domain/model/event.ts';
import type { Issue } from '../../src/domain/model/issue.ts';
import { inDispatchOrder } from '../../src/domain/rules/dispatch-order.ts';
import { createLoop, type Loop } from '../../src/orchestrator/loop.ts';
import { createSteadyClock } from '../../src/lib/steady-clock.ts';
import { NOTHING_DURABLE, type Store } from '../../src/ports/store.ts';
import { openStore } from '../../src/store/sqlite/open.ts';
import { newFolder, removeFolders, roomInMemory } from './folders.ts';
import { issueWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';

/* What runs in a process of its own, so that its memory is its own. */

/** The libraries of the daemon, loaded and used for nothing. */
async function holdLibraries(): Promise<void> {
  const held = await Promise.all(
    ['@hono/node-server', '@photostructure/sqlite', 'hono', 'prom-client', 'yaml', 'zod'].map(
      (name) => import(name) as Promise<unknown>,
    ),
  );
  await fetch('http://127.0.0.1:9/').catch(() => {});
  console.log(held.length);
  setInterval(() => held.length, 60_000);
}

const SESSIONS = 100_000;
const WARM = 5_000;
/** People add so many issues every so many polls: what the service finds finished, and cleans up after, in that time. */
const NEW_ISSUES = 100;
const NEW_EVERY_POLLS = 20;
/** Runs that are forgotten as old ones, and those after them that are not. */
const OLD_RUNS = 10_000;
const KEPT_RUNS = 1_000;
const FORGET_CEILING_MS = 60_000;

export interface SessionFigures {
  readonly grownMb: number;
  readonly sessions: number;
}

/** What so many sessions leave on the heap. */
async function weighSessions(): Promise<SessionFigures> {
  const { tracker, end } = await openService(await roomInMemory());
  await tracker.finished(WARM);
  const before = heapMb();
  await tracker.finished(WARM + SESSIONS);
  const grownMb = Math.max(0, heapMb() - before);
  await end();
  return { grownMb, sessions: SESSIONS };
}

export interface HistoryFigures {
  /** Old runs that were forgotten, those of them that are still there, and the longest stall meanwhile. */
  readonly forgotten: number;
  readonly left: number;
  readonly stallMs: number;
}

/** Lets the runs before a moment fall out of the history, as the daemon does all the time. */
async function forgetHistory(): Promise<HistoryFigures> {
  const { store, tracker, loop, end } = await openService();
  await tracker.finished(OLD_RUNS);
  const until = Date.now();
  await tracker.finished(OLD_RUNS + KEPT_RUNS);
  loop.kill();
  const count = async (): Promise<number> => (await store.listRuns({ tracker: TRACKER, limit: SESSIONS, before: until })).length;
  const { runs } = await store.totals();
  const old = await count();
  globalThis.gc?.();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await new Promise<void>((resolve) => {
    const forgetRuns: Store['forgetRuns'] = async (before, limit) => {
      const isMore = await store.forgetRuns(before, limit);
      if (!isMore) setTimeout(end, 100);
      return isMore;
    };
    const deps = { store: { forgetRuns }, now: () => until + DAY_MS, days: () => 1, logger: SILENT, everyMs: 10 };
    const stop = forgetOldRuns(deps);
    const late = setTimeout(end, FORGET_CEILING_MS);
    function end(): void {
      stop();
      clearTimeout(late);
      resolve();
    }
  });
  delays.disable();
  if ((await store.totals()).runs !== runs) throw new Error('forgetting runs has changed the totals');
  const left = await count();
  await end();
  return { forgotten: old, left, stallMs: delays.max / 1e6 };
}

/**
 * The whole core and the real database; agent, tracker and workspace answer at once. Every issue is a new one: it is
 * worked on, handed off, closed by a person, and its workspace removed.
 */
async function openService(root = os.tmpdir()) {
  const folder = await newFolder(root);
  const owner = { id: TRACKER, pid: process.pid, host: 'bench', workflowPath: folder };
  const store = await openStore({ path: path.join(folder, 'x.db'), owner, clock: { now: Date.now } });
  const tracker = createTracker(store);
  const loop: Loop = createLoop(
    settingsWith({ agent: { maxConcurrentAgents: 100 }, rest: { polling: { intervalMs: 0 } } }),
    NOTHING_DURABLE,
    TRACKER,
    {
      store: { apply: (writes) => store.apply(TRACKER, writes) },
      clock: createSteadyClock(),
      interpret: (effect) => {
        // The next poll is due as soon as one has ended: nobody waits for a timer.
        if (effect.do === 'announce' && effect.notice.name === 'poll:tick:completed')
          setImmediate(() => loop.report({ type: 'clock' }));
        for (const event of tracker.answersTo(effect)) void event.then((answer) => setImmediate(() => loop.report(answer)));
      },
      onStoreFault: () => {},
    },
  );
  loop.start();
  const end = async (): Promise<void> => {
    loop.kill();
    await store.close();
    await removeFolders();
  };
  return { store, tracker, loop, end };
}

const TRACKER = 'bench';
const DAY_MS = 86_400_000;
const silent = (): void => {};
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };

/** A tracker with its people, and agents that are done at once. */
function createTracker(store: Pick<Store, 'spentOn'>) {
  const open = new Map<string, Issue>();
  let [polls, added, finished, wanted] = [0, 0, 0, 0];
  let reached = (): void => {};
  const read = (id: string): { ok: true; value: Issue | null } => ({ ok: true, value: open.get(id) ?? null });

  function answersTo(effect: Effect): readonly Promise<Event>[] {
    switch (effect.do) {
      case 'poll':
        return [poll(effect.lookups)];
      case 'go-on':
        return [Promise.resolve({ type: 'went-on' })];
      case 'read-candidate':
        return [Promise.resolve({ type: 'candidate-read', issueId: effect.issue.id, issue: read(effect.issue.id) })];
      case 'read-issue':
        return [Promise.resolve({ type: 'issue-read', issueId: effect.issueId, issue: read(effect.issueId) })];
      case 'start-run':
        return runOf(effect.plan).map((event) => Promise.resolve(event));
      case 'hand-off':
        return [Promise.resolve(handOff(effect))];
      case 'sweep':
        return [Promise.resolve({ type: 'sweep-answered', states: closed(effect.workspaces), missing: [], waiting: [] })];
      case 'remove-workspace':
        return [Promise.resolve(removed(effect))];
      case 'read-terminal':
        return [Promise.resolve({ type: 'cleanup-answered', issues: { ok: true, value: [] } })];
      default:
        return [];
    }
  }

  async function poll(lookups: readonly string[]): Promise<Event> {
    polls += 1;
    for (let count = 0; polls % NEW_EVERY_POLLS === 0 && count < NEW_ISSUES && finished < wanted; count += 1) {
      added += 1;
      open.set(`${added}`, issueWith({ id: `${added}`, identifier: `S-${added}` }));
    }
    return {
      type: 'poll-answered',
      candidates: { ok: true, value: inDispatchOrder([...open.values()]) },
      states: { ok: true, value: new Map(lookups.map((id) => [id, open.get(id)?.state ?? 'review'])) },
      preflightProblem: null,
      spent: await store.spentOn(TRACKER, [...open.keys()]),
    };
  }

  function runOf({ issue, runId }: RunPlan): readonly Event[] {
    const ids = { issueId: issue.id, runId };
    return [
      { type: 'run-prepared', ...ids, workspacePath: `/ws/${issue.identifier}` },
      { type: 'run-exited', ...ids, exit: { kind: 'normal', turns: 1, fault: null, status: null, scm: null } },
    ];
  }

  function handOff({ issue, handoff }: EffectNamed<'hand-off'>): Event {
    open.delete(issue.id);
    finished += 1;
    if (finished === wanted) reached();
    return { type: 'handoff-answered', issueId: issue.id, runId: handoff.runId, outcome: { kind: 'succeeded' } };
  }

  function closed(workspaces: EffectNamed<'sweep'>['workspaces']): EventNamed<'sweep-answered'>['states'] {
    return { ok: true, value: new Map(workspaces.map(({ issueId }) => [issueId, open.get(issueId)?.state ?? 'done'])) };
  }

  function removed({ issueId, identifier, why }: EffectNamed<'remove-workspace'>): Event {
    const outcome = { ok: true, value: true } as const;
    return { type: 'workspace-removed', issueId, identifier, path: `/ws/${identifier}`, why, aside: null, outcome };
  }

  return {
    answersTo,
    /** When so many were handed off. */
    finished: (count: number) =>
      new Promise<void>((resolve) => {
        wanted = count;
        reached = resolve;
      }),
  };
}

function heapMb(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

// Last, since it needs all of the above.
if (process.argv[2] === 'libraries') await holdLibraries();
if (process.argv[2] === 'sessions') console.log(JSON.stringify(await weighSessions()));
if (process.argv[2] === 'history') console.log(JSON.stringify(await forgetHistory()));
