import type { Person } from '../domain/model/issue.ts';
import type { PreflightOptions, Tracker, TrackerOperation } from '../ports/tracker.ts';

interface AskedOperation {
  readonly operation: TrackerOperation;
  /** No request is made for it. */
  readonly isLocal: boolean;
}

/** Runs a call as part of an operation, so that its requests count for that one. */
export type During = <T>(asked: AskedOperation, call: () => Promise<T>) => Promise<T>;

/** The same tracker, with every request counted for the operation that made it. */
export function countRequests(tracker: Tracker, during: During): Tracker {
  const counted = <T>(operation: TrackerOperation, call: () => Promise<T>): Promise<T> =>
    during({ operation, isLocal: tracker.isLocal === true }, call);
  const { labels, blockers, people } = tracker;
  return {
    // What the kind tells of itself must not get lost on the way.
    ...tracker,
    fetchCandidateIssues: (signal) => counted('fetch_candidates', () => tracker.fetchCandidateIssues(signal)),
    fetchIssueById: (id, signal) => counted('fetch_issue', () => tracker.fetchIssueById(id, signal)),
    fetchIssuesByStates: (states, signal) => counted('fetch_by_states', () => tracker.fetchIssuesByStates(states, signal)),
    fetchIssueStatesByIds: (...asked) => counted('fetch_states_by_ids', () => tracker.fetchIssueStatesByIds(...asked)),
    fetchIssueStatesByIdentifiers: (...asked) =>
      counted('fetch_states_by_identifiers', () => tracker.fetchIssueStatesByIdentifiers(...asked)),
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
    ...(people && {
      people: {
        readSelf: (signal: AbortSignal) => counted('fetch_people', () => people.readSelf(signal)),
        ...(people.mayWrite && {
          mayWrite: (person: Person, signal: AbortSignal) =>
            counted('fetch_people', async () => people.mayWrite!(person, signal)),
        }),
      },
    }),
    ...(tracker.readLabelling && {
      readLabelling: (id: string, label: string, signal: AbortSignal) =>
        counted('fetch_labelling', async () => tracker.readLabelling!(id, label, signal)),
    }),
    ...(tracker.describeProject && {
      describeProject: (signal: AbortSignal) =>
        counted('preflight', async () => (await tracker.describeProject?.(signal)) ?? null),
    }),
    ...(tracker.preflight && {
      preflight: (signal: AbortSignal, options?: PreflightOptions) =>
        counted(tracker.provesByPoll ? 'fetch_candidates' : 'preflight', async () => tracker.preflight?.(signal, options)),
    }),
  };
}
