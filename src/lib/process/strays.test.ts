import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { endStrays, killStrays } from './strays.ts';

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone, as it should be.
    }
  }
});

/** A process in a session of its own, once it runs its script. */
async function stranger(script: string, env: Record<string, string>) {
  const child = spawn('sh', ['-c', `${script} echo ready; while :; do sleep 0.01; done`], {
    env: { PATH: process.env['PATH'], ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(child.pid!);
  await once(child.stdout, 'data');
  return { child, exit: once(child, 'exit') as Promise<[number | null, string | null]> };
}

describe.runIf(process.platform === 'linux')('endStrays', () => {
  it('ends who carries the marker, politely first, and nobody else', async () => {
    const id = randomUUID();
    const polite = await stranger('trap "exit 7" TERM;', { RUN: id });
    const other = await stranger('', { RUN: `${id}x` });
    await endStrays(`RUN=${id}`, 30_000);
    expect(await polite.exit).toEqual([7, null]);
    expect(other.child.exitCode).toBeNull();
  });

  it('kills who does not listen', async () => {
    const id = randomUUID();
    const stubborn = await stranger('trap "" TERM;', { RUN: id });
    await endStrays(`RUN=${id}`, 200);
    expect(await stubborn.exit).toEqual([null, 'SIGKILL']);
  });

  it('kills them before it returns, where there is no time to wait', async () => {
    const id = randomUUID();
    const stubborn = await stranger('trap "" TERM;', { RUN: id });
    killStrays(`RUN=${id}`);
    expect(await stubborn.exit).toEqual([null, 'SIGKILL']);
  });

  it('returns at once when nobody does', async () => {
    await endStrays(`RUN=${randomUUID()}`, 60_000);
  });
});
