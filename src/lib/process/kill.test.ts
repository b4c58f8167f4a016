import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
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
