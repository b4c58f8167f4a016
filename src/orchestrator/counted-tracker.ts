import type { Notice } from '../domain/model/notice.ts';
import type { Tracker, TrackerOperation } from '../ports/tracker.ts';

/** The same tracker, with every call told: one notice for each, with how it went. */
export function countRequests(tracker: Tracker, announce: (notice: Notice) => void): Tracker {
  const counted = async <T>(operation: TrackerOperation, call: () => Promise<T>): Promise<T> => {
    const tell = (result: 'success' | 'error') => announce({ name: 'tracker:request:made', facts: { operation, result } });
    try {
      const value = await call();
      tell('success');
      return value;
    } catch (error) {
      tell('error');
      throw error;
    }
  };
  const { labels, blockers } = tracker;
  return {
    kind: tracker.kind,
    fetchCandidateIssues: (signal) => counted('fetch_candidates', () => tracker.fetchCandidateIssues(signal)),
    fetchIssueById: (id, signal) => counted('fetch_issue', () => tracker.fetchIssueById(id, signal)),
    fetchIssuesByStates: (states, signal) => counted('fetch_by_states', () => tracker.fetchIssuesByStates(states, signal)),
    fetchIssueStatesByIds: (ids, signal) => counted('fetch_states_by_ids', () => tracker.fetchIssueStatesByIds(ids, signal)),
    fetchIssueStatesByIdentifiers: (identifiers, signal) =>
      counted('fetch_states_by_identifiers', () => tracker.fetchIssueStatesByIdentifiers(identifiers, signal)),
    fetchIssueComments: (id, signal) => counted('fetch_comments', () => tracker.fetchIssueComments(id, signal)),
    transitionIssue: (id, state, signal) => counted('transition', () => tracker.transitionIssue(id, state, signal)),
    commentIssue: (id, text, signal) => counted('comment', () => tracker.commentIssue(id, text, signal)),
    ...(labels && {
      labels: {
        add: (id: string, label: string, signal: AbortSignal) => counted('add_label', () => labels.add(id, label, signal)),
        remove: (id: string, label: string, signal: AbortSignal) =>
          counted('remove_label', () => labels.remove(id, label, signal)),
      },
    }),
    ...(blockers && {
      blockers: { read: (id: string, signal: AbortSignal) => counted('fetch_blockers', () => blockers.read(id, signal)) },
    }),
    ...(tracker.describeProject && { describeProject: (signal: AbortSignal) => tracker.describeProject!(signal) }),
    ...(tracker.preflight && {
      preflight: (signal: AbortSignal) => counted('preflight', async () => tracker.preflight?.(signal)),
    }),
  };
}
