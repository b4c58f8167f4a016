import { eventually, type RunningDaemon } from '../support/daemon.ts';

const ROUNDS = 4;

/** What was spoiled is tried again after its backoff. When it never comes, the last words of the daemon say why. */
export async function patiently(daemon: RunningDaemon, holds: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      await eventually(holds, Boolean, what);
      return;
    } catch (error) {
      if (round === ROUNDS) throw new Error(`${what} did not come: ${lastWords(daemon)}`, { cause: error });
    }
  }
}

function lastWords(daemon: RunningDaemon): string {
  const told = daemon.records().filter(({ msg }) => msg !== 'tick completed');
  return JSON.stringify(told.slice(-10), null, 1);
}
