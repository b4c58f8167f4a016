import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  FIXTURES,
  prints,
  SETTINGS,
  takeTurn,
  type FakeClaude,
  fakeWith,
  faultKindOf,
} from '../../../test/support/claude-code/fake-claude.ts';
import { agentKind } from './index.ts';
import { optionsSchema } from './options.ts';
import { startSession } from './session.ts';
import { isAlive } from '../../../test/support/processes.ts';

const SESSION = 'c3b6570d-8d66-4b84-be5a-9efa69b76cc5';
describe('a process', () => {
  it('that does not read a long prompt is not waited for', async () => {
    const fake = await fakeWith([prints('success').replace(/^cat [^;]*; /, '')]);
    expect((await takeTurn(await fake.open(), 'x'.repeat(3_000_000))).result).toEqual({ ok: true });
  });

  it('gets a long prompt whole', async () => {
    const fake = await fakeWith([prints('success')]);
    await takeTurn(await fake.open(), 'ü'.repeat(2_000_000));
    expect(await fake.noted('stdin', 1)).toBe('ü'.repeat(2_000_000));
  });

  it.each([
    ['', 'exec sleep 60'],
    [' and closes its output', 'exec sleep 60 >&- 2>&-'],
  ])('that stays silent after its result%s is ended, and its result counts', async (_what, rest) => {
    const fake = await fakeWith([prints('success').replace(/exit 0$/, rest)]);
    const options = optionsSchema().parse({});
    const { settings, deps, request } = fake;
    const session = startSession({ command: ['claude'], options, settings, deps, request, mcpFile: null, lingerMs: 50 });
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    expect(fake.ended).toEqual(fake.started);
  });

  it.each([
    ['be silent', { stallTimeoutMs: 400 }, 30_000],
    ['take', { turnTimeoutMs: 6_000, stopGraceMs: 30_000 }, 6_000],
  ])('is not waited for longer than a turn may %s, also one that does not obey', async (_what, limits, longestMs) => {
    const fake = await fakeWith([prints('success').replace(/exit 0$/, "trap '' TERM; while :; do sleep 1; done")]);
    const agent = agentKind.create({ ...SETTINGS, ...limits }, {}, fake.deps);
    const startedAt = performance.now();
    const session = await agent.startSession(fake.request, new AbortController().signal);
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    expect(performance.now() - startedAt).toBeLessThan(longestMs);
  });

  it('whose end cannot be recorded takes nothing down', async () => {
    const fake = await fakeWith([prints('success')]);
    const processes = {
      started: () => {},
      ended: () => {
        throw new Error('the database is locked');
      },
    };
    const agent = agentKind.create(SETTINGS, {}, { ...fake.deps, processes });
    const session = await agent.startSession(fake.request, new AbortController().signal);
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    await session.stop();
  });

  it('that cannot be recorded does not run', async () => {
    const fake = await fakeWith([`sleep 1; echo > "$FAKE_DIR/ran"; ${prints('success')}`]);
    const pids: number[] = [];
    const processes = {
      started: (pid: number) => {
        pids.push(pid);
        throw new Error('the disk is full');
      },
      ended: () => {},
    };
    const agent = agentKind.create(SETTINGS, {}, { ...fake.deps, processes });
    const session = await agent.startSession(fake.request, new AbortController().signal);
    await expect(takeTurn(session)).rejects.toThrow('the disk is full');
    expect(isAlive(pids[0]!)).toBe(false);
    expect(existsSync(path.join(fake.dir, 'ran'))).toBe(false);
  });

  it('may print a result of several megabytes', async () => {
    const lines = (await readFile(path.join(FIXTURES, 'success.jsonl'), 'utf8')).trim().split('\n');
    const result = { ...(JSON.parse(lines.at(-1)!) as object), result: 'words '.repeat(400_000) };
    const fake = await fakeWith(['cat >/dev/null; cat "$FAKE_DIR/long"']);
    await writeFile(path.join(fake.dir, 'long'), [...lines.slice(0, -1), JSON.stringify(result)].join('\n'));
    expect((await takeTurn(await fake.open())).result).toEqual({ ok: true });
  });

  it('that leaves a child behind with the output open does not hold the turn up', async () => {
    const fake = await fakeWith([`sleep 60 & echo $! > "$FAKE_DIR/child.$n"; ${prints('success')}`]);
    const session = await fake.open();
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    expect(isAlive(Number(await fake.noted('child', 1)))).toBe(false);
  });
});
/** Aborts once the script has written the file `ready`. */
async function abortWhenReady(fake: FakeClaude, controller: AbortController): Promise<void> {
  await expect.poll(() => existsSync(path.join(fake.dir, 'ready')), { interval: 5 }).toBe(true);
  controller.abort();
}
const HANG = 'echo > "$FAKE_DIR/ready"; while :; do sleep 0.01; done';
describe('an aborted turn', () => {
  it('interrupts the agent, hears what it still says, and is cancelled whatever that is', async () => {
    const script = `trap 'sed -n "2,\\$p" "$SUCCESS"; exit 0' INT; sed -n 1p "$SUCCESS"; ${HANG}`;
    const success = new URL('./fixtures/success.jsonl', import.meta.url).pathname;
    const fake = await fakeWith([script], { SUCCESS: success });
    const agent = agentKind.create({ ...SETTINGS, readTimeoutMs: 10_000, stopGraceMs: 20_000 }, {}, fake.deps);
    const session = await agent.startSession(fake.request, new AbortController().signal);
    const controller = new AbortController();
    const [{ result, events }] = await Promise.all([
      takeTurn(session, 'do it', controller.signal),
      abortWhenReady(fake, controller),
    ]);
    expect(faultKindOf(result)).toBe('turn_cancelled');
    expect(events.at(-1)).toMatchObject({ type: 'usage', tokens: { outputTokens: 50 } });
    expect(fake.ended).toEqual(fake.started);
  });

  it('ends a stubborn process with its children, also those that left its group', async () => {
    const stubborn = 'trap "" INT TERM;';
    const child = (name: string): string => `sh -c '${stubborn} echo $$ > "$FAKE_DIR/${name}"; while :; do sleep 0.01; done'`;
    const script = `${stubborn} ${child('inside')} & setsid ${child('outside')} &
      until [ -s "$FAKE_DIR/inside" ] && [ -s "$FAKE_DIR/outside" ]; do sleep 0.01; done; ${HANG}`;
    const fake = await fakeWith([script]);
    const agent = agentKind.create({ ...SETTINGS, stopGraceMs: 100 }, {}, fake.deps);
    const session = await agent.startSession(fake.request, new AbortController().signal);
    const controller = new AbortController();
    const [{ result }] = await Promise.all([takeTurn(session, 'do it', controller.signal), abortWhenReady(fake, controller)]);
    expect(faultKindOf(result)).toBe('turn_cancelled');
    const pids = [fake.started[0], ...['inside', 'outside'].map((name) => path.join(fake.dir, name))];
    for (const pid of pids) expect(isAlive(Number(typeof pid === 'string' ? await readFile(pid, 'utf8') : pid))).toBe(false);
  });

  it('does not even start when it was aborted before', async () => {
    const fake = await fakeWith([prints('success')]);
    const session = await fake.open();
    expect(faultKindOf((await takeTurn(session, 'x', AbortSignal.abort())).result)).toBe('turn_cancelled');
    expect(await fake.calls()).toBe(0);
  });

  it('does not start anew after a lost conversation', async () => {
    const lost = `trap 'cat "$LOST"; exit 1' INT; ${HANG}`;
    const fake = await fakeWith([lost], { LOST: new URL('./fixtures/lost-conversation.jsonl', import.meta.url).pathname });
    const session = await fake.open({ resumeSessionId: SESSION });
    const controller = new AbortController();
    const [{ result }] = await Promise.all([takeTurn(session, 'do it', controller.signal), abortWhenReady(fake, controller)]);
    expect(faultKindOf(result)).toBe('turn_cancelled');
    expect(await fake.calls()).toBe(1);
  });

  it('reports nothing after it settled', async () => {
    const fake = await fakeWith([`while :; do cat "$INIT"; sleep 0.001; echo > "$FAKE_DIR/ready"; done`], {
      INIT: new URL('./fixtures/permission-denied.jsonl', import.meta.url).pathname,
    });
    const session = await fake.open();
    const controller = new AbortController();
    const [{ events }] = await Promise.all([takeTurn(session, 'x', controller.signal), abortWhenReady(fake, controller)]);
    const count = events.length;
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(events).toHaveLength(count);
  });
});
describe('stop', () => {
  it('ends a running turn and everything of the session, as often as it is called', async () => {
    const fake = await fakeWith([HANG]);
    const session = await fake.open();
    const turn = takeTurn(session);
    await expect.poll(() => existsSync(path.join(fake.dir, 'ready')), { interval: 5 }).toBe(true);
    await Promise.all([session.stop(), session.stop()]);
    expect(faultKindOf((await turn).result)).toBe('turn_cancelled');
    expect(isAlive(fake.started[0]!)).toBe(false);
    expect(faultKindOf((await takeTurn(session)).result)).toBe('turn_cancelled');
    expect(await fake.calls()).toBe(1);
  });

  it('ends what an earlier turn left running outside of its group', async () => {
    const stray = `setsid sh -c 'echo $$ > "$FAKE_DIR/stray"; exec sleep 60' >/dev/null 2>&1 &
      until [ -s "$FAKE_DIR/stray" ]; do sleep 0.01; done;`;
    const fake = await fakeWith([stray + prints('success')]);
    const session = await fake.open();
    await takeTurn(session);
    const pid = Number(await readFile(path.join(fake.dir, 'stray'), 'utf8'));
    expect(isAlive(pid)).toBe(true);
    await session.stop();
    expect(isAlive(pid)).toBe(false);
  });
});
