import { readFileSync } from 'node:fs';

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
