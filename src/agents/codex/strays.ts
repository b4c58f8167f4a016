import { procTable } from '../../lib/process-identity.ts';

/**
 * Kills what carries the marker (`NAME=value`) in its environment. Codex runs each command in a session of its own and
 * ends it when it ends itself, but when it has to be killed, what a command left in the background stays behind. Only
 * on Linux; elsewhere the environment of a process cannot be read reliably.
 */
export async function endStrays(marker: string): Promise<void> {
  if (process.platform !== 'linux') return;
  // Again and again: a process may have forked while it was killed.
  for (let look = 0; look < MAX_LOOKS && killStrays(marker) > 0; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const MAX_LOOKS = 20;
const PAUSE_MS = 20;

function killStrays(marker: string): number {
  const strays = procTable
    .list()
    .filter(({ pid, zombie }) => !zombie && pid !== process.pid && procTable.environment(pid).includes(marker));
  for (const { pid } of strays) kill(pid);
  return strays.length;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
