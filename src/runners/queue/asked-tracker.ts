import type { RunPlan } from '../../domain/model/effect.ts';
import type { Issue } from '../../domain/model/issue.ts';
import type { RunRequest } from '../../ports/run-queue.ts';
import type { Tracker } from '../../ports/tracker.ts';
import type { Ask } from './asking.ts';
import { errorOf } from './told-errors.ts';

/** The tracker of a run as far as a run needs one: its own issue, asked of the leader. */
export function createAskedTracker(askLeader: Ask, plan: RunPlan): Tracker {
  const ask = async (request: RunRequest, signal: AbortSignal): Promise<unknown> => {
    const answer = await askLeader(request, signal);
    if (!answer.ok) throw errorOf(answer);
    return answer.value;
  };
  const absent = (): Promise<never> => Promise.reject(new Error('a worker asks for nothing but its own issue'));
  return {
    kind: plan.settings.tracker.kind,
    fetchIssueById: async (_id, signal) => (await ask({ ask: 'issue' }, signal)) as Issue,
    async fetchIssueStatesByIds(ids, signal, closed) {
      const state = (await ask({ ask: 'state', ...(closed && { tellClosed: true }) }, signal)) as string | null;
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
