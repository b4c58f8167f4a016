import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { TrackerError, type Fault, type TrackerErrorKind } from '../../domain/model/errors.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { Issue } from '../../domain/model/issue.ts';
import type { RunRequest, WorkerSeat } from '../../ports/run-queue.ts';
import type { Tracker } from '../../ports/tracker.ts';

const ANSWER_EVERY_MS = 150;

/** The tracker of a run as far as a run needs one: its own issue, asked of the leader. */
export function createAskedTracker(seat: WorkerSeat, plan: RunPlan, lost: AbortSignal): Tracker {
  const ask = async (request: RunRequest, signal: AbortSignal): Promise<unknown> => {
    const id = randomUUID();
    const either = AbortSignal.any([signal, lost]);
    if ((await seat.ask(plan.runId, id, request)) === null) throw new Error('the run is no longer this worker’s');
    for (;;) {
      either.throwIfAborted();
      const answer = await seat.answerTo(id);
      if (answer?.ok === true) return answer.value;
      if (answer !== null) throw trackerError(answer.fault, request.ask);
      await delay(ANSWER_EVERY_MS, undefined, { signal: either });
    }
  };
  const absent = (): Promise<never> => Promise.reject(new Error('a worker asks for nothing but its own issue'));
  return {
    kind: plan.settings.tracker.kind,
    fetchIssueById: async (_id, signal) => (await ask({ ask: 'issue' }, signal)) as Issue,
    async fetchIssueStatesByIds(ids, signal) {
      const state = (await ask({ ask: 'state' }, signal)) as string | null;
      return new Map(state === null ? [] : ids.map((id) => [id, state]));
    },
    transitionIssue: async (_id, state, signal) => void (await ask({ ask: 'move', state }, signal)),
    fetchCandidateIssues: absent,
    fetchIssuesByStates: absent,
    fetchIssueStatesByIdentifiers: absent,
    fetchIssueComments: absent,
    commentIssue: absent,
  };
}

/** The leader's failure as the tracker itself would have told it. */
function trackerError(fault: Fault, method: string): Error {
  const found = /^tracker: (\w+): (\S+) (\S+): (.*)$/s.exec(fault.message);
  if (found === null) return new Error(fault.message);
  return new TrackerError({
    kind: found[1] as TrackerErrorKind,
    method: found[2] ?? method,
    path: found[3] ?? '',
    detail: found[4] ?? fault.message,
    retryable: fault.consequence === 'back-off',
    ...(fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs }),
  });
}
