import type { RunPlan } from '../../../domain/model/effect.ts';
import type { Issue } from '../../../domain/model/issue.ts';
import type { Tracker } from '../../../ports/tracker.ts';
import { createAskForValue, type Ask } from './asking.ts';

/** The tracker of a run as far as a run needs one: its own issue, asked of the leader. */
export function createLeaderTracker(askLeader: Ask, plan: RunPlan): Tracker {
  const ask = createAskForValue(askLeader);
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
