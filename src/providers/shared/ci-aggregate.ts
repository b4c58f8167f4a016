import type { CheckRun, CiReport } from '../../ports/ci.ts';

/**
 * The one rule for what a set of check runs amounts to, shared by the CI providers and the merge gate: any failing run
 * gives failing; a completed cancelled run or any unfinished run holds at pending; otherwise success. No runs: pending.
 */
export function aggregate(runs: readonly CheckRun[]): Pick<CiReport, 'status' | 'failingCount'> {
  const failingCount = runs.filter(isFailing).length;
  if (failingCount > 0) return { status: 'failing', failingCount };
  const unsettled = runs.length === 0 || runs.some((run) => run.status !== 'completed' || run.conclusion === 'cancelled');
  return { status: unsettled ? 'pending' : 'success', failingCount };
}

export function isFailing(run: CheckRun): boolean {
  return run.status === 'completed' && run.conclusion === 'failure';
}
