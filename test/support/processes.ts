import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createControlGroups } from '../../src/lib/process/index.ts';

/** Whether a process runs; one that only waits for its parent to take notice does not. */
export function isAlive(pid: number | string): boolean {
  const state = stateOf(pid);
  return state !== null && !'ZXx'.includes(state);
}

/** The letter of `/proc/<pid>/stat`, or null for a process that is gone. */
function stateOf(pid: number | string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? null;
  } catch {
    return null;
  }
}

/** Whether this user may make control groups here; without them such a process is out of reach, as the docs say. */
export async function mayGroup(): Promise<boolean> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const groups = createControlGroups({ prefix: `foray-test-${process.pid}`, maker: 'x' });
  groups.add('x', child.pid ?? 0);
  const inside = readFileSync(`/proc/${child.pid}/cgroup`, 'utf8').includes('foray-test');
  child.kill('SIGKILL');
  await groups.endAll();
  return inside;
}
