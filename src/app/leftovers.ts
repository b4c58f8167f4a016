import { endGroup, endStrays } from '../lib/process/index.ts';
import { groupSurvivors } from '../lib/process-identity.ts';
import type { Logger } from '../ports/runtime.ts';
import type { ProcessRecords } from '../store/sqlite/processes.ts';

/**
 * Processes that a crash of the last daemon left running are ended before anything new starts. A recorded number alone
 * proves nothing: it may belong to a stranger by now, so the group must still be the one that was recorded.
 */
export async function endLeftovers(processes: ProcessRecords, logger: Logger): Promise<void> {
  for (const leftover of processes.leftovers()) {
    const { pid, owner } = leftover;
    const marker = `FORAY_RUN_ID=${owner}` as const;
    if (groupSurvivors(leftover, marker).length > 0) {
      logger.warn('ending a process that an earlier run left behind', { pid, run_id: owner });
      await endGroup(pid, { graceMs: LEFTOVER_GRACE_MS });
    }
    await endStrays(marker, LEFTOVER_GRACE_MS);
  }
  processes.clear();
}

const LEFTOVER_GRACE_MS = 2_000;
