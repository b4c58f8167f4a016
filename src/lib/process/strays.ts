import { setTimeout as delay } from 'node:timers/promises';
import { procTable } from '../process-identity.ts';

/** What a stray is found by: `NAME=value` in the environment it was started with. */
export type Marker = `${string}=${string}`;

const KILL_PATIENCE_MS = 2_000;
const LOOK_MS = 50;

/**
 * Ends the processes that carry the marker, in whatever group they are: coding agents run shell commands in sessions of
 * their own, which a signal to the agent's group does not reach. Only on Linux; elsewhere the environment of a process
 * cannot be read reliably.
 */
export async function endStrays(marker: Marker, graceMs: number): Promise<void> {
  if (process.platform !== 'linux') return;
  if (await gone(marker, 'SIGTERM', graceMs)) return;
  await gone(marker, 'SIGKILL', KILL_PATIENCE_MS);
}

/** Signals whoever is there until nobody is left or the time is up. */
async function gone(marker: Marker, signal: NodeJS.Signals, patienceMs: number): Promise<boolean> {
  const until = performance.now() + patienceMs;
  const told = new Set<number>();
  for (;;) {
    const strays = findStrays(marker);
    if (strays.length === 0) return true;
    for (const pid of strays) if (signal === 'SIGKILL' || !told.has(pid)) send(pid, signal);
    for (const pid of strays) told.add(pid);
    if (performance.now() >= until) return false;
    await delay(LOOK_MS);
  }
}

function findStrays(marker: Marker): number[] {
  return procTable
    .list()
    .filter((found) => !found.zombie && found.pid !== process.pid && procTable.environment(found.pid).includes(marker))
    .map((found) => found.pid);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
