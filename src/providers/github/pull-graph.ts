import { z } from 'zod';
import type { RequestKey } from '../../ports/scm.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { nullableText } from './schema.ts';

/** Conversations and merge queues, which only the remote's GraphQL side knows. */
export interface PullGraph {
  /** Ids of the review comments whose conversation was resolved. */
  readResolved(request: RequestKey, signal: AbortSignal): Promise<ReadonlySet<string>>;
  readQueue(request: RequestKey, signal: AbortSignal): Promise<PullQueue>;
  /** Puts the pull request into the queue of its base branch, if its head still is the expected one. */
  enqueue(pullId: string, expectedSha: string, signal: AbortSignal): Promise<void>;
}

export interface PullQueue {
  /** The node id that the mutation asks for. */
  readonly pullId: string;
  /** Whether the base branch has a merge queue. */
  readonly isEnabled: boolean;
  readonly isQueued: boolean;
}

/** Of one pull request at most so many hundred conversations are read. */
const THREAD_PAGES = 20;

// GraphQL reference, "PullRequest": reviewThreads, isMergeQueueEnabled, isInMergeQueue; "Mutations": enqueuePullRequest.
const THREADS = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { isResolved comments(first: 100) { nodes { databaseId } } } } } }
}`;
const QUEUE = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { id isMergeQueueEnabled isInMergeQueue } }
}`;
const ENQUEUE = `mutation($pull: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $pull, expectedHeadOid: $head }) { mergeQueueEntry { id } }
}`;

const pullAnswer = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.object({ data: z.object({ repository: z.object({ pullRequest: z.object(fields).nullish() }).nullish() }) });

const THREADS_ANSWER = pullAnswer({
  reviewThreads: z
    .object({
      pageInfo: z.object({ hasNextPage: z.boolean().nullish(), endCursor: nullableText }).nullish(),
      nodes: z.array(
        z.object({
          isResolved: z.boolean().nullish(),
          comments: z.object({ nodes: z.array(z.object({ databaseId: z.int().nullish() })) }).nullish(),
        }),
      ),
    })
    .nullish(),
});
const QUEUE_ANSWER = pullAnswer({
  id: nullableText,
  isMergeQueueEnabled: z.boolean().nullish(),
  isInMergeQueue: z.boolean().nullish(),
});

export function createPullGraph(http: TrackerHttp): PullGraph {
  const variablesOf = ({ owner, repo, number }: RequestKey) => ({ owner, name: repo, number });
  return {
    async readResolved(request, signal) {
      const resolved = new Set<string>();
      let after: string | null = null;
      for (let page = 0; page < THREAD_PAGES; page += 1) {
        const variables: object = { ...variablesOf(request), after };
        const answer: z.output<typeof THREADS_ANSWER> = await http.sendJson(
          'POST',
          THREADS_ANSWER,
          { body: { query: THREADS, variables }, onlyReads: true },
          signal,
        );
        const threads = answer.data.repository?.pullRequest?.reviewThreads;
        for (const { isResolved, comments } of threads?.nodes ?? []) {
          if (isResolved) for (const { databaseId } of comments?.nodes ?? []) resolved.add(String(databaseId));
        }
        if (!threads?.pageInfo?.hasNextPage) break;
        after = threads.pageInfo.endCursor;
      }
      return resolved;
    },
    async readQueue(request, signal) {
      const { data } = await http.sendJson(
        'POST',
        QUEUE_ANSWER,
        { body: { query: QUEUE, variables: variablesOf(request) }, onlyReads: true },
        signal,
      );
      const pull = data.repository?.pullRequest;
      return { pullId: pull?.id ?? '', isEnabled: pull?.isMergeQueueEnabled === true, isQueued: pull?.isInMergeQueue === true };
    },
    async enqueue(pullId, expectedSha, signal) {
      const body = { query: ENQUEUE, variables: { pull: pullId, head: expectedSha } };
      await http.sendJson('POST', z.object({ data: z.unknown() }), { body }, signal);
    },
  };
}
