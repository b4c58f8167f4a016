import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { isAlive } from '../../../test/support/processes.ts';
import { createGroup, endGroup } from './kill.ts';

describe('endGroup', () => {
  it.each([0, 1, -5, 1.5, Number.NaN, process.pid])('refuses %s, which is no group of ours', (pid) => {
    expect(() => createGroup(pid)).toThrow(RangeError);
  });

  it('is content with a group that is gone and never signals it again', async () => {
    const child = spawn('true', { detached: true, stdio: 'ignore' });
    await once(child, 'exit');
    const group = createGroup(child.pid ?? 0);
    expect(group.isEmpty()).toBe(true);
    const kill = vi.spyOn(process, 'kill');
    expect(await group.end({ graceMs: 1000 })).toBe(true);
    expect(kill).not.toHaveBeenCalled();
    kill.mockRestore();
  });

  it('ends a group whose leader has left it', async () => {
    const child = spawn('sh', ['-c', 'sleep 60 & sleep 60 & echo ok'], { detached: true, stdio: ['ignore', 'ignore', 'ignore'] });
    await once(child, 'exit');
    expect(await endGroup(child.pid ?? 0, { graceMs: 1000 })).toBe(true);
  });

  it('kills again what the first kill missed, such as a member that was just being made', async () => {
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => true);
    expect(await endGroup(child.pid ?? 0, { graceMs: 0 })).toBe(true);
    expect(kill.mock.calls[0]).toEqual([-(child.pid ?? 0), 'SIGKILL']);
  });

  it.runIf(process.platform === 'linux')('takes a group for ended whose dead nobody reaps', async () => {
    // What the shell becomes never asks after the child of the shell.
    const child = spawn('sh', ['-c', 'setsid true & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    const dead = Number(String(said));
    await expect.poll(() => isAlive(dead)).toBe(false);
    expect(createGroup(dead).isEmpty(), 'its number is still taken').toBe(false);
    expect(await endGroup(dead, { graceMs: 1_000 })).toBe(true);
    child.kill('SIGKILL');
  });

  it('sends the signal it is given', async () => {
    const child = spawn('sh', ['-c', 'trap "" TERM; trap "exit 9" INT; echo; while :; do sleep 0.01; done'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const exit = once(child, 'exit');
    await endGroup(child.pid ?? 0, { graceMs: 30_000, signal: 'SIGINT' });
    expect(await exit).toEqual([9, null]);
  });
});
