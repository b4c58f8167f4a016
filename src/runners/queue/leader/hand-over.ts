import { errorText } from '../../../lib/error-text.ts';
import type { RunJob } from '../../../ports/run-queue.ts';
import { isMoved, movedText } from '../../on-host.ts';
import { isRefusal } from '../refusals.ts';
import type { GivenRun, GivenRunsDeps } from './given-runs.ts';
import { planForWorker } from './job.ts';

interface HandOver extends Pick<GivenRunsDeps, 'queue' | 'clock' | 'markKey' | 'nameOf'> {
  readonly refused: (run: GivenRun, why: string) => void;
  readonly takeBack: (run: GivenRun) => void;
}

/**
 * Gives runs to the workers that were chosen for them. All at once or, where the database refuses them, one by one: a worker
 * that cannot be given anything does not keep the others waiting. Those that were not given wait again.
 */
export async function handOver(chosen: readonly GivenRun[], deps: HandOver): Promise<void> {
  const { queue, nameOf, refused, takeBack } = deps;
  const left = new Set(chosen);
  const give = async (runs: readonly GivenRun[]): Promise<void> => {
    await queue.give(runs.map((run) => ({ id: run.plan.runId, workerId: run.worker!.id, job: jobOf(run, deps) })));
    for (const run of runs) left.delete(run);
    for (const run of runs) tellPlace(run, nameOf);
  };
  try {
    await give(chosen).catch(async (error: unknown) => {
      if (!isRefusal(error)) throw error;
      for (const run of chosen) {
        await give([run]).catch((why: unknown) => {
          if (!isRefusal(why)) throw why;
          refused(run, errorText(why));
        });
      }
    });
  } finally {
    for (const run of left) takeBack(run);
  }
}

function jobOf({ plan, template, repository, worker }: GivenRun, { markKey, clock }: HandOver): RunJob {
  const itsPlan = planForWorker(plan, isMoved(plan, worker?.name ?? ''));
  return { plan: itsPlan, template, markKey, repository, leaderNow: clock.now() };
}

/** Tells where a run went, and that its workspace does not come along. */
function tellPlace({ plan, hear, worker }: GivenRun, nameOf: GivenRunsDeps['nameOf']): void {
  if (worker === null) return;
  const host = worker.name;
  const ids = { issueId: plan.issue.id, runId: plan.runId };
  hear.report({ type: 'workspace-chosen', ...ids, workspacePath: '', host: nameOf(worker) });
  if (!isMoved(plan, host)) return;
  hear.report({ type: 'agent-spoke', ...ids, event: { type: 'notice', text: movedText(plan, host) } });
}
