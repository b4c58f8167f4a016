import type { ProcessLedger } from '../ports/agent.ts';

/** The process groups of this daemon that are alive, recorded for the next one as they come and go. */
export interface ProcessGroups extends ProcessLedger {
  /** Kills all of them, now and for good. */
  killAll(): void;
}

export function trackProcessGroups(records: ProcessLedger): ProcessGroups {
  const alive = new Set<number>();
  return {
    started(pid, owner) {
      alive.add(pid);
      records.started(pid, owner);
    },
    ended(pid) {
      alive.delete(pid);
      records.ended(pid);
    },
    killAll() {
      for (const pid of alive) killGroup(pid);
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}
