import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { NOTHING_DURABLE } from '../../src/ports/store.ts';
import type { Effect } from '../../src/domain/model/effect.ts';
import type { Event } from '../../src/domain/model/event.ts';
import { createLoop, type Loop } from '../../src/orchestrator/loop.ts';
import { createSteadyClock } from '../../src/lib/steady-clock.ts';
import { openStore } from '../../src/store/sqlite/open.ts';
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
const AT_ONCE = 100;
/** They come back again and again, as issues do that people hand back: what is kept of an issue is kept once. */
const ISSUES = 1_000;

/** The whole core and the real database; agent, tracker and workspace answer at once. */
async function runSessions(): Promise<{ grownMb: number; sessions: number }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-bench-'));
  const owner = { id: 'bench', pid: process.pid, host: 'bench', workflowPath: folder };
  const store = await openStore({ path: path.join(folder, 'x.db'), owner, clock: { now: Date.now } });
  const settings = settingsWith({ agent: { maxConcurrentAgents: AT_ONCE }, rest: { polling: { intervalMs: 10 } } });
  let [finished, next] = [0, 0];
  let reached = (): void => {};
  const active = new Map<string, ReturnType<typeof issueWith>>();
  const report = (event: Event): void => void setImmediate(() => loop.report(event));
  const interpret = (effect: Effect): void => {
    switch (effect.do) {
      case 'poll':
        while (active.size < 2 * AT_ONCE && next < SESSIONS + WARM) {
          next += 1;
          const id = `${next % ISSUES}`;
          active.set(id, issueWith({ id, identifier: `S-${id}` }));
        }
        return report({
          type: 'poll-answered',
          candidates: { ok: true, value: [...active.values()] },
          states: { ok: true, value: new Map(effect.lookups.map((id) => [id, active.get(id)?.state ?? 'review'])) },
          preflightProblem: null,
        });
      case 'go-on':
        return report({ type: 'went-on' });
      case 'read-candidate':
        return report({
          type: 'candidate-read',
          issueId: effect.issue.id,
          issue: { ok: true, value: active.get(effect.issue.id) ?? null },
        });
      case 'read-issue':
        return report({
          type: 'issue-read',
          issueId: effect.issueId,
          issue: { ok: true, value: active.get(effect.issueId) ?? null },
        });
      case 'start-run': {
        const { plan } = effect;
        const ids = { issueId: plan.issue.id, runId: plan.runId };
        report({ type: 'run-prepared', ...ids, workspacePath: `/ws/${plan.issue.identifier}` });
        return report({ type: 'run-exited', ...ids, exit: { kind: 'normal', turns: 1, fault: null, status: null, scm: null } });
      }
      case 'hand-off':
        active.delete(effect.issue.id);
        finished += 1;
        if (finished === WARM || finished === SESSIONS + WARM) reached();
        return report({
          type: 'handoff-answered',
          issueId: effect.issue.id,
          runId: effect.handoff.runId,
          outcome: { kind: 'succeeded' },
        });
      default:
    }
  };
  const loop: Loop = createLoop(settings, NOTHING_DURABLE, 'bench', {
    store: { apply: (writes) => store.apply('bench', writes) },
    clock: createSteadyClock(),
    interpret,
    onStoreFault: () => {},
  });
  const warm = new Promise<void>((resolve) => (reached = resolve));
  loop.start();
  await warm;
  const before = heapMb();
  await new Promise<void>((resolve) => (reached = resolve));
  const after = heapMb();
  loop.kill();
  await store.close();
  await rm(folder, { recursive: true, force: true });
  return { grownMb: Math.max(0, after - before), sessions: SESSIONS };
}

function heapMb(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

// Last, since it needs all of the above.
if (process.argv[2] === 'libraries') await holdLibraries();
if (process.argv[2] === 'sessions') console.log(JSON.stringify(await runSessions()));
