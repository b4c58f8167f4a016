import type { ProcessLedger } from '../../ports/agent.ts';

/** The process groups of this daemon that are alive, recorded for the next one as they come and go. */
export interface ProcessGroups extends ProcessLedger {
  /** Kills all of them, now and for good. */
  killAll(): void;
  /** Ends the tries to write down what could not be written. */
  stop(): void;
}

const RETRY_MS = 500;

/**
 * Starts and ends are written down at once. A record that the database does not take is tried again in order, and never
 * harms who started the process: a crash meanwhile still finds it by the run id in its environment.
 */
export function trackProcessGroups(records: ProcessLedger, onFault: (fault: unknown) => void): ProcessGroups {
  const alive = new Set<number>();
  const unwritten: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let told = false;
  let stopped = false;

  function write(record: () => void): void {
    if (stopped) return;
    unwritten.push(record);
    if (timer === undefined) flush();
  }

  function flush(): void {
    timer = undefined;
    try {
      for (let next = unwritten[0]; next; next = unwritten[0]) {
        next();
        unwritten.shift();
      }
      told = false;
    } catch (fault) {
      if (!told) onFault(fault);
      told = true;
      timer = setTimeout(flush, RETRY_MS).unref();
    }
  }

  return {
    started(pid, owner) {
      alive.add(pid);
      write(() => records.started(pid, owner));
    },
    ended(pid) {
      alive.delete(pid);
      write(() => records.ended(pid));
    },
    killAll() {
      for (const pid of alive) killGroup(pid);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
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
