import { processStartTime } from '../../lib/process-identity.ts';
import { leftoverOf, type Leftover, type ProcessRecords } from '../records/processes.ts';
import { all, run, type Work } from '../records/work.ts';
import type { Postgres } from './connection.ts';

/** The column is called host: what stands in it is the machine. */
const PUT = `INSERT INTO processes (host, pid, start_time, owner, instance) VALUES (?, ?, ?, ?, ?) ON CONFLICT (host, pid)
  DO UPDATE SET start_time = excluded.start_time, owner = excluded.owner, instance = excluded.instance`;
const RETRY_MS = 500;

export interface ProcessPlace {
  readonly machine: string;
  readonly instance: string;
}

/**
 * Process groups of sessions on this machine, written down one after the other beside the work. A crash before a record is
 * stored still finds the process, by what it carries in its environment.
 */
export async function openProcessRecords(
  db: Postgres,
  { machine, instance }: ProcessPlace,
): Promise<ProcessRecords & { stop(): void }> {
  const leftovers = await db.read(readLeftovers(machine, instance));
  const stopped = new AbortController();
  let queue = Promise.resolve();
  const write = (work: () => Work<void>): void => {
    queue = queue.then(() => untilStored(db, work, stopped.signal));
  };
  return {
    started: (pid, owner) => {
      const startTime = processStartTime(pid) ?? '';
      write(() => run(PUT, machine, pid, startTime, owner, instance));
    },
    ended: (pid) => write(() => run('DELETE FROM processes WHERE host = ? AND pid = ?', machine, pid)),
    leftovers: () => leftovers,
    clear: () => write(() => run('DELETE FROM processes WHERE host = ? AND instance <> ?', machine, instance)),
    stop: () => stopped.abort(),
  };
}

function* readLeftovers(machine: string, instance: string): Work<readonly Leftover[]> {
  const sql = 'SELECT pid, start_time, owner FROM processes WHERE host = ? AND instance <> ? ORDER BY pid';
  return (yield* all(sql, machine, instance)).map(leftoverOf);
}

async function untilStored(db: Postgres, work: () => Work<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const stored = await db.write(work()).then(
      () => true,
      () => false,
    );
    if (stored) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
  }
}
