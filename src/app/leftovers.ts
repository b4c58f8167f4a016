import { endGroup } from '../lib/process/index.ts';
import type { Logger } from '../ports/runtime.ts';
import type { ProcessBook } from '../store/processes.ts';

/** Processes that a crash of the last daemon left running are ended before anything new starts. */
export async function endLeftovers(processes: ProcessBook, logger: Logger): Promise<void> {
  for (const leftover of processes.leftovers()) {
    logger.warn('ending a process that an earlier run left behind', { pid: leftover.pid, run_id: leftover.owner });
    await endGroup(leftover.pid, { graceMs: LEFTOVER_GRACE_MS });
  }
  processes.clear();
}

const LEFTOVER_GRACE_MS = 2_000;
