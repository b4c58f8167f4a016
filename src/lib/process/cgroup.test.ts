import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../../../test/support/daemon.ts';
import { mayGroup } from '../../../test/support/processes.ts';
import { procPids } from '../process-identity.ts';
import { createControlGroups } from './cgroup.ts';

const SECONDS = `600.${process.pid}`;
const strays = (): number[] => procPids().filter((pid) => argsOf(pid).includes(SECONDS));

function argsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

afterEach(() => {
  for (const pid of strays()) process.kill(pid, 'SIGKILL');
});

it.runIf(await mayGroup())('a group takes whatever its process started before and while it was put there', async () => {
  const many = `i=0; while [ $i -lt 150 ]; do setsid env -i sleep ${SECONDS} & i=$((i+1)); done; wait`;
  for (let round = 0; round < 5; round += 1) {
    const child = spawn('sh', ['-c', many], { stdio: 'ignore', detached: true });
    await eventually(strays, ({ length }) => length > 5, 'the first of them');
    const groups = createControlGroups({ prefix: `foray-test-${process.pid}`, maker: 'a' });
    groups.add('x', child.pid ?? 0);
    await eventually(strays, ({ length }) => length === 150, 'the last of them');
    await groups.end('x');
    expect(strays()).toEqual([]);
  }
});

it.runIf(await mayGroup())(
  'who ends its groups leaves those of another alone, and who comes after ends those of others',
  async () => {
    const prefix = `foray-test-${process.pid}`;
    const [before, after] = [createControlGroups({ prefix, maker: 'a' }), createControlGroups({ prefix, maker: 'b' })];
    const child = spawn('sleep', [SECONDS], { stdio: 'ignore', detached: true });
    after.add('x', child.pid ?? 0);
    await before.endAll();
    expect(strays()).toEqual([child.pid]);
    await after.endOthers();
    expect(strays()).toEqual([child.pid]);
    await before.endOthers();
    expect(strays()).toEqual([]);
  },
);
