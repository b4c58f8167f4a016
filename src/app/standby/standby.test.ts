import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createNotices } from '../../../test/support/fake-daemon.ts';
import { textOf } from '../../../test/support/page-text.ts';
import { aParked } from '../../../test/support/store/database.ts';
import { createMemoryStore } from '../../../test/support/store/memory.ts';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Leader } from '../../store/postgres/index.ts';
import { retriesIn, silenceIn } from '../adapters/check-tracker.ts';
import { keepChronicle } from '../pages/chronicle.ts';
import { keepWorkflow } from '../daemon/kept-workflow.ts';
import { createKnownSecrets } from '../secrets.ts';
import { openStandby } from './standby.ts';
import { readWorkflowFile, requireGood } from '../workflow.ts';

const logger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
/** Moved on by the tests that wait. */
let later = 0;
const steady = createSteadyClock();
const clock = { ...steady, now: () => steady.now() + later };

/** A leader's notices, and a standby that reads what came of them. */
async function setUp() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-standby-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'WORKFLOW.md');
  const write = (extra = '', issues = 'i.json'): Promise<void> =>
    writeFile(
      file,
      `---\ntracker: {kind: file, active_states: [todo]}\nfile: {path: ${issues}}\nagent: {kind: mock}\n${extra}\n---\nWork`,
    );
  await write();
  const store = createMemoryStore();
  let asked = 0;
  const refresh = async (): Promise<boolean> => (asked += 1) > 1;
  const workflow = requireGood(await readWorkflowFile(file, {}));
  const standby = await openStandby(
    {
      workflow,
      env: {},
      version: 'test',
      port: 0,
      clock,
      logger,
      secrets: createKnownSecrets(),
      interrupted: new AbortController().signal,
    },
    {
      store,
      kept: keepWorkflow(workflow),
      passedOn: { refresh, webhook() {}, addNotes: store.addNotes, stop() {} },
      readHosts: async () => [],
    },
  );
  onTestFinished(() => standby.stop());
  const notices = createNotices();
  const chronicle = keepChronicle({ store, notices, clock, logger });
  const place = { host: 'build-7', machine: 'm', pid: 7, processStart: '', workflowPath: file, url: null };
  const leader: Leader = {
    ...place,
    id: 'l',
    version: 'test',
    since: clock.now() - 60_000,
    epoch: 1,
    silentMs: 0,
    absentMs: 0,
    left: false,
    tracker: null,
  };
  const look = (): Promise<void> => standby.look(leader);
  return {
    file,
    write,
    look,
    store,
    stop: standby.stop,
    url: standby.url ?? '',
    status: async (token: string) =>
      (await fetch(new URL('/api/v2/runs', standby.url ?? ''), { headers: { authorization: `Bearer ${token}` } })).status,
    announce: notices.announce,
    ready: async () => {
      await look();
      return (await (await fetch(new URL('/readyz', standby.url ?? ''))).json()) as { uptime_seconds: number };
    },
    /** What it says once it has read what the leader has written. */
    async says() {
      await chronicle.samplesSince(0);
      await look();
      const [page, holds] = await Promise.all([fetch(standby.url ?? ''), fetch(new URL('/api/v2/holds', standby.url ?? ''))]);
      return { page: textOf(await page.text()), holds: (await holds.json()) as Record<string, unknown> };
    },
  };
}

it('a standby tells why its leader cannot read the tracker, as long as it cannot', async () => {
  const { announce, says } = await setUp();
  const nothing = await says();
  expect(nothing.holds['tracker_problem']).toBeNull();
  expect(nothing.page).not.toMatch(/The tracker (cannot|has not)/);
  expect(nothing.holds).toMatchObject({ holds: [], last_poll: null, next_poll_at: null });

  silenceIn(announce)('repoissues');
  expect((await says()).holds['tracker_problem']).toBeNull();

  retriesIn(announce)({ error: 'GET /: status 503', kind: 'tracker_transport_error', retryInMs: 630_000, tries: 1 });
  const starting = await says();
  const error = expect.stringMatching(/^GET \/: status 503; .*check tracker\.endpoint/) as string;
  expect(starting.holds['tracker_problem']).toMatchObject({ error, next_try_at: expect.stringMatching(/Z$/) });
  expect(starting.page).toMatch(
    /The tracker cannot be read yet\. GET \/: status 503; .*check tracker\.endpoint.*tried again in 10m/,
  );

  announce({ name: 'poll:tick:failed', facts: { error: 'refused', kind: 'tracker_auth_error', retryInMs: 1, durationMs: 1 } });
  announce({ name: 'poll:preflight:failed', facts: { problem: 'no agent' } });
  const polling = await says();
  expect(polling.holds['tracker_problem']).toMatchObject({ error: expect.stringContaining('refused'), next_try_at: null });
  expect(polling.page).toMatch(/The last poll failed\. refused; renew the token/);
  expect(polling.page).toContain('Nothing is dispatched. no agent');

  const done = { candidates: 0, dispatched: 0, running: 0, retrying: 0, durationMs: 1 };
  announce({ name: 'poll:tick:completed', facts: done });
  announce({ name: 'poll:preflight:passed', facts: {} });
  const healed = await says();
  expect(healed.page).not.toMatch(/The last poll failed|Nothing is dispatched\. /);
  expect(healed.holds).toMatchObject({ tracker_problem: null, preflight_problem: null });
});

it('a standby that cannot read the database says since when, and not who leads', async () => {
  const { says, url } = await setUp();
  onTestFinished(() => void (later = 0));
  const { page } = await says();
  expect(page).toMatch(/Standing by\. build-7 \(process 7\) leads since \d{4}-.* UTC/);
  expect(page).not.toContain('cannot be reached');
  later = 90_000;
  const unread = textOf(await (await fetch(url)).text());
  expect(unread).toMatch(/The database cannot be reached\. It was last read 1m ago ?, and this is what was read then/);
  expect(unread).toContain('Waiting for the database');
  expect(unread).not.toMatch(/Standing by|Serving|leads since/);
  expect((await says()).page).toContain('Standing by');
});

it('a standby tells until when the polls of its leader wait for the quota', async () => {
  const { announce, says, ready } = await setUp();
  const reason = 'the quota "core" cannot pay for a poll: 9 of 5000 are left';
  const until = Date.now() + 630_000;
  announce({ name: 'poll:tick:postponed', facts: { reason, resource: 'core', until } });
  expect((await says()).page).toMatch(/The next poll waits\. .*9 of 5000 are left \. It begins in 10m/);
  expect(await ready()).toMatchObject({ poll_postponed: { reason, until: new Date(until).toISOString() } });
  announce({ name: 'poll:tick:resumed', facts: {} });
  expect((await says()).page).not.toContain('9 of 5000');
  expect(await ready()).not.toHaveProperty('poll_postponed');
});

it('a standby tells how long its process runs, however often it looks at its leader', async () => {
  const { ready } = await setUp();
  const before = process.uptime();
  const told = [(await ready()).uptime_seconds, (await ready()).uptime_seconds];
  expect(told[0]).toBeGreaterThanOrEqual(before - 0.1);
  expect(told[1]).toBeGreaterThanOrEqual(told[0] ?? 0);
});

it('a standby says of a refresh whether it was merged with one that waited', async () => {
  const { url } = await setUp();
  const refresh = async (): Promise<unknown> => (await fetch(new URL('/api/v1/refresh', url), { method: 'POST' })).json();
  expect(await refresh()).toMatchObject({ queued: true, coalesced: false });
  expect(await refresh()).toMatchObject({ queued: true, coalesced: true });
});

it('a standby answers who waits for the leader before it takes over, and what was asked does not come true later', async () => {
  const { url, store, stop } = await setUp();
  const add = vi.spyOn(store, 'addRequest');
  const asking = fetch(new URL('/api/v2/pause', url), { method: 'POST' });
  await expect.poll(() => add.mock.settledResults.length, { timeout: 10_000 }).toBe(1);
  await stop();
  const answer = await asking;
  expect(answer.status).toBe(409);
  expect(await answer.json()).toMatchObject({
    error: { message: 'This service is just taking over the lead: ask again in a moment.' },
  });
  expect(await store.takeRequests([])).toEqual([]);
});

it('a standby lets in whom the file lets in by now', async () => {
  const { write, status } = await setUp();
  expect(await status('')).toBe(200);
  await write('server: {token: what-opens-the-door}');
  await expect.poll(() => status(''), { timeout: 10_000 }).toBe(401);
  await write('server: {token: [');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await status('what-opens-the-door')).toBe(200);
  await write('server: {token: what-opens-it-now}');
  await expect.poll(() => status('what-opens-it-now'), { timeout: 10_000 }).toBe(200);
  expect(await status('what-opens-the-door')).toBe(401);
});

it('a standby says that an edit was rejected, until the file is good again', async () => {
  const { write, look, url } = await setUp();
  await look();
  const read = async (at: string) => (await (await fetch(new URL(at, url))).json()) as Record<string, unknown>;
  const page = async (): Promise<string> => textOf(await (await fetch(url)).text());
  expect(await read('/readyz')).not.toHaveProperty('workflow_error');
  await write('server: {token: [');
  await expect.poll(async () => (await read('/readyz'))['workflow_error'], { timeout: 10_000 }).toBeDefined();
  expect(await read('/api/v2/workflow')).toMatchObject({ rejected: { reason: expect.stringContaining('line 5') as string } });
  expect(await page()).toContain('the one before it is in force');
  await write('polling: {interval_ms: 1234}');
  await expect.poll(async () => (await read('/api/v2/workflow'))['rejected'], { timeout: 10_000 }).toBeNull();
  expect(await read('/readyz')).not.toHaveProperty('workflow_error');
});

it('a standby shows the records of the tracker that the file names by now', async () => {
  const { write, look, store, url, file } = await setUp();
  const parked = async (): Promise<readonly unknown[]> => {
    await look();
    const found = (await (await fetch(new URL('/api/v2/parked', url))).json()) as { parked: { issue_id: string }[] };
    return found.parked.map(({ issue_id }) => issue_id);
  };
  await write('', 'other.json');
  const { identity } = requireGood(await readWorkflowFile(file, {})).settings.tracker;
  await store.apply(identity, [{ write: 'park', parked: aParked('7') }]);
  await expect.poll(parked, { timeout: 10_000 }).toEqual(['7']);
  await write();
  await expect.poll(parked, { timeout: 10_000 }).toEqual([]);
});

it('a standby tells its event streams when what it reads is not what it read before', async () => {
  const { look, store, url } = await setUp();
  const hints = await followHints(url);
  await expect.poll(hints, { timeout: 10_000 }).toBe(1);
  await look();
  await expect.poll(hints, { timeout: 10_000 }).toBe(2);
  await look();
  await store.apply('', [{ write: 'operator-pause', pause: { reason: 'lunch', by: 'somebody', since: 1 } }]);
  await look();
  await expect.poll(hints, { timeout: 10_000 }).toBe(3);
});

/** Counts the hints of an event stream. */
async function followHints(url: string): Promise<() => number> {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const { body } = await fetch(new URL('/api/v2/events?names=snapshot-changed', url), { signal: ended.signal });
  let heard = '';
  const decoder = new TextDecoder();
  void (async () => {
    for await (const bytes of body ?? []) heard += decoder.decode(bytes as Uint8Array, { stream: true });
  })().catch(() => {});
  return () => heard.split('event: snapshot-changed').length - 1;
}
