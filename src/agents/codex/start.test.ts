import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { threadAnswer } from './parse.ts';
import { keepFakes, type FakeBehaviour } from '../../../test/support/codex/fake-app-server.ts';

const { fakeCodex, cleanUp } = keepFakes();
afterEach(cleanUp);

describe('the start of a session', () => {
  const failures: [string, FakeBehaviour, string, string][] = [
    ['an early exit', { exitAtStart: 2 }, 'agent_exited', 'exit code 2: error: unknown flag'],
    ['an early exit with code 0', { exitAtStart: 0 }, 'agent_exited', 'exit code 0'],
    ['nobody logged in', { requiresOpenaiAuth: true }, 'agent_not_logged_in', 'run `codex login`'],
    ['a refused handshake', { refuse: { initialize: 'too old' } }, 'agent_protocol_error', 'codex refused initialize: too old'],
    ['a refused thread', { refuse: { 'thread/start': 'unknown variant' } }, 'agent_protocol_error', 'codex refused thread/start'],
  ];
  it.each(failures)('fails with %s', async (_name, behaviour, kind, text) => {
    const fake = fakeCodex();
    await expect(fake.start(behaviour)).rejects.toMatchObject({ kind, message: expect.stringContaining(text) as string });
    expect(fake.ledger.map((line) => line.split(' ')[0])).toEqual(['started', 'ended']);
  });

  it.each([
    [0, false],
    [36, true],
    [3_000_000, false],
  ])('takes an id of %s characters for that of a thread: %s', (length, taken) => {
    expect(threadAnswer.safeParse({ thread: { id: 'x'.repeat(length) } }).success).toBe(taken);
  });

  it('waits no longer than an operator says who says less than the default', async () => {
    const fake = fakeCodex({}, { readTimeoutMs: 300 });
    await expect(fake.start({ silentOn: 'thread/start' })).rejects.toMatchObject({
      kind: 'agent_protocol_error',
      message: expect.stringContaining('codex did not get ready within 300 ms') as string,
    });
  });

  it('needs no login where the provider needs none', async () => {
    const fake = fakeCodex();
    await fake.start({ account: null, requiresOpenaiAuth: false });
    expect(fake.received('account/login/start')).toEqual([]);
  });

  it('does not replace a stored login by the key', async () => {
    const fake = fakeCodex({ CODEX_API_KEY: 'sk-secret-1' });
    await fake.start({ account: { type: 'chatgpt' }, requiresOpenaiAuth: true });
    expect(fake.received('account/login/start')).toEqual([]);
  });

  it('fails without the program and without the directory', async () => {
    const missing = fakeCodex({}, { command: ['no-such-program'] });
    await expect(missing.start()).rejects.toMatchObject({ kind: 'agent_not_found' });
    await expect(fakeCodex().start({}, { workspacePath: '/no/such/folder' })).rejects.toMatchObject({ kind: 'agent_exited' });
  });

  it('is made alone until one has set the home of Codex up, then several at once', async () => {
    const fake = fakeCodex();
    const start = (runId: string) => fake.start({ setUpMs: 150 }, { runId: `${runId}-${path.basename(fake.workspacePath)}` });
    const both = await Promise.allSettled([start('first'), start('second')]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('lets the next one try when the first fails', async () => {
    const fake = fakeCodex();
    const failing = () => fake.start({ refuse: { 'thread/start': 'no' } });
    const both = await Promise.allSettled([failing(), failing()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
