import type { AgentDeps, ProcessLedger } from '../../ports/agent.ts';
import { errorText } from '../../lib/error-text.ts';

/**
 * The host's list of processes for one run. A process that cannot be recorded must not run, so that fault is passed on;
 * one that is gone needs no more than a warning.
 */
export function ledgerOf({ processes, logger }: AgentDeps): ProcessLedger {
  return {
    started: (pid, owner) => processes.started(pid, owner),
    ended(pid) {
      try {
        processes.ended(pid);
      } catch (error) {
        logger.warn('cannot record that a process ended', { pid, error: errorText(error) });
      }
    },
  };
}
