import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import { startDemo } from './demo.ts';

const NEVER = new AbortController().signal;

it('the demo shows the life of a merge request: red checks, a fix, a review, a merge', { timeout: 60_000 }, async () => {
  const clock = createSteadyClock();
  const env = { PATH: process.env['PATH'] ?? '' };
  const warned: string[] = [];
  const told: string[] = [];
  const info = (message: string): void => void told.push(message);
  const logger = { debug() {}, info, warn: (message: string) => void warned.push(message), error() {} };
  const demo = await startDemo({ env, version: '0', port: 0, clock, logger, pace: 0.01, issues: 1, interrupted: NEVER });
  // The first screen a new user sees finds no fault with itself.
  expect(warned).toEqual([]);
  const read = async (path: string): Promise<string> => (await fetch(`${demo.url}${path}`)).text();
  try {
    let page = '';
    // While its request is watched: after the merge it leaves the page soon.
    let isShown = false;
    for (let looks = 0; looks < 600 && !/svc_merges_total\{result="success"\} [1-9]/.test(page); looks += 1) {
      await delay(50);
      isShown ||= (await read('')).includes('demo/shop');
      page = await read('metrics');
    }
    expect(page).toMatch(/svc_merges_total\{result="success"\} [1-9]/);
    const triggers = [...(await read('api/v2/runs?limit=200')).matchAll(/"trigger":"(\w+)"/g)].map(([, trigger]) => trigger);
    expect(triggers).toEqual(expect.arrayContaining(['fresh', 'ci_failure', 'review_comments']));
    expect(isShown).toBe(true);
    // Nor does what comes after a merge.
    await expect.poll(() => [...told, ...warned]).toContain('branch deleted');
    expect(warned).toEqual([]);
  } finally {
    demo.stop();
    await demo.done;
  }
  expect(existsSync(demo.directory)).toBe(false);
});

it('a demo that cannot start, for its port is taken, leaves nothing behind', async () => {
  const clock = createSteadyClock();
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const folder = await mkdtemp(path.join(tmpdir(), 'foray-no-demo-'));
  vi.stubEnv('TMPDIR', folder);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const servers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const before = servers();
  try {
    const { port } = taken.address() as AddressInfo;
    await expect(startDemo({ env: {}, version: '0', port, clock, logger, interrupted: NEVER })).rejects.toThrow(
      `port ${port} is in use`,
    );
    expect(readdirSync(folder)).toEqual([]);
    // An open one would keep the process alive.
    expect(servers()).toBe(before);
  } finally {
    vi.unstubAllEnvs();
    taken.close();
    await rm(folder, { recursive: true });
  }
});
