import { setTimeout as delay } from 'node:timers/promises';
import { environmentText, procPids } from '../process-identity.ts';

/** What a stray is found by: `NAME=value` in the environment it was started with. */
export type Marker = `${string}=${string}`;

const KILL_PATIENCE_MS = 2_000;
const LOOK_MS = 50;

/**
 * Ends the processes that carry one of the markers, in whatever group they are: coding agents run shell commands in
 * sessions of their own, which a signal to the agent's group does not reach. Only on Linux; elsewhere the environment of
 * a process cannot be read reliably. `onFound` is told of each of them once.
 */
export async function endStrays(
  markers: Marker | readonly Marker[],
  graceMs: number,
  onFound: (pid: number) => void = () => {},
): Promise<void> {
  if (process.platform !== 'linux') return;
  const wanted = new Set<string>(typeof markers === 'string' ? [markers] : markers);
  const told = new Set<number>();
  if (await gone(wanted, 'SIGTERM', graceMs, tellOnce(told, onFound))) return;
  await gone(wanted, 'SIGKILL', KILL_PATIENCE_MS, tellOnce(told, onFound));
}

/** Kills them at once, before it returns: for a process that ends in this moment. */
export function killStrays(marker: Marker): void {
  if (process.platform !== 'linux') return;
  for (const pid of findStrays(new Set([marker]))) send(pid, 'SIGKILL');
}

function tellOnce(told: Set<number>, onFound: (pid: number) => void): (pid: number) => void {
  return (pid) => {
    if (!told.has(pid)) onFound(pid);
    told.add(pid);
  };
}

/** Signals whoever is there until nobody is left or the time is up. */
async function gone(
  wanted: ReadonlySet<string>,
  signal: NodeJS.Signals,
  patienceMs: number,
  onFound: (pid: number) => void,
): Promise<boolean> {
  const until = performance.now() + patienceMs;
  const told = new Set<number>();
  for (;;) {
    const strays = findStrays(wanted);
    if (strays.length === 0) return true;
    strays.forEach(onFound);
    for (const pid of strays) if (signal === 'SIGKILL' || !told.has(pid)) send(pid, signal);
    for (const pid of strays) told.add(pid);
    if (performance.now() >= until) return false;
    await delay(LOOK_MS);
  }
}

function findStrays(wanted: ReadonlySet<string>): number[] {
  // Few processes have such a variable at all: the environment of the others is not taken apart.
  const names = [...new Set([...wanted].map((marker) => marker.slice(0, marker.indexOf('=') + 1)))];
  // One that is dead has no environment any more.
  const carries = (pid: number): boolean => {
    const text = environmentText(pid);
    return names.some((name) => text.includes(name)) && text.split('\0').some((entry) => wanted.has(entry));
  };
  return procPids().filter((pid) => pid !== process.pid && carries(pid));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
