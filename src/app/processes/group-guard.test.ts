import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/daemon.ts';
import { isAlive } from '../../../test/support/processes.ts';
import { startGroupGuard } from './group-guard.ts';

const MARK = `GUARDED=${process.pid}` as const;

/** A group of its own that would live long. */
function sleeper(env: Record<string, string> = {}): number {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { PATH: process.env['PATH'], ...env } });
  child.unref();
  return child.pid ?? 0;
}

describe('the guard of process groups', () => {
  it('ends those of a process that it hears nothing of, and none that has ended', async () => {
    const guard = startGroupGuard(1, MARK);
    const [kept, ended] = [sleeper(), sleeper()];
    guard.started(ended, 'r-1');
    guard.started(kept, 'r-2');
    guard.ended(kept);
    await eventually(
      () => isAlive(ended),
      (alive) => !alive,
      'the end of the group',
    );
    expect(isAlive(kept)).toBe(true);
    process.kill(-kept, 'SIGKILL');
    guard.stop();
  });

  it.runIf(process.platform === 'linux')('ends who left its group, by the mark, and nobody who has another', async () => {
    const guard = startGroupGuard(1, MARK);
    const [group, stray, other] = [sleeper(), sleeper({ GUARDED: `${process.pid}` }), sleeper({ GUARDED: `${process.pid}0` })];
    guard.started(group, 'r-1');
    await eventually(
      () => isAlive(stray),
      (alive) => !alive,
      'the end of the stray',
    );
    expect(isAlive(other)).toBe(true);
    process.kill(-other, 'SIGKILL');
    guard.stop();
  });

  it('leaves them alone when it is told to go', async () => {
    const guard = startGroupGuard(1, MARK);
    const kept = sleeper({ GUARDED: `${process.pid}` });
    guard.started(kept, 'r-2');
    guard.stop();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(isAlive(kept)).toBe(true);
    process.kill(-kept, 'SIGKILL');
  });
});
