import type { RunPlan } from '../../domain/model/effect.ts';
import { faultOf, type Fault } from '../../domain/model/errors.ts';
import type { RunAnswer, RunRequest } from '../../ports/run-queue.ts';
import type { Tracker } from '../../ports/tracker.ts';

interface Asking {
  readonly plan: RunPlan;
  readonly tracker: Tracker;
}

/** Answers what a run asks of its tracker. The same rules as for a run on this machine: its own issue and nothing else. */
export async function answerRun({ plan, tracker }: Asking, request: RunRequest, signal: AbortSignal): Promise<RunAnswer> {
  const { id } = plan.issue;
  try {
    switch (request.ask) {
      case 'issue':
        return { ok: true, value: await tracker.fetchIssueById(id, signal) };
      case 'state':
        return { ok: true, value: (await tracker.fetchIssueStatesByIds([id], signal)).get(id) ?? null };
      case 'move':
        if (request.state !== plan.settings.tracker.inProgressState) return { ok: false, fault: notAllowed(request.state) };
        await tracker.transitionIssue(id, request.state, signal);
        return { ok: true, value: null };
    }
  } catch (error) {
    return { ok: false, fault: faultOf(error) };
  }
}

function notAllowed(state: string): Fault {
  const message = `a run may move its issue to tracker.in_progress_state alone, not to ${state}`;
  return { kind: 'tracker_payload_error', message, consequence: 'back-off-at-cap' };
}
