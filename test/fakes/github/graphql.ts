import { buildSchema, graphqlSync, type GraphQLError } from 'graphql';
import type { RecordedRequest } from '../../support/http-server.ts';
import { type Answer, refusal, type RouteContext } from './answer.ts';
import type { FakePull } from './pull-store.ts';

/** The part of the published schema that is used. */
const SCHEMA = buildSchema(`
  scalar GitObjectID
  enum PullRequestReviewDecision { APPROVED CHANGES_REQUESTED REVIEW_REQUIRED NEW_ONE }
  type Commit { oid: GitObjectID! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type PullRequestReviewComment { databaseId: Int }
  type PullRequestReviewCommentConnection { nodes: [PullRequestReviewComment] }
  type PullRequestReviewThread { isResolved: Boolean! comments(first: Int): PullRequestReviewCommentConnection! }
  type PullRequestReviewThreadConnection { pageInfo: PageInfo! nodes: [PullRequestReviewThread] }
  type MergeQueueEntry { id: ID! }
  type PullRequest {
    id: ID! number: Int! reviewDecision: PullRequestReviewDecision mergeCommit: Commit
    isMergeQueueEnabled: Boolean! isInMergeQueue: Boolean!
    reviewThreads(first: Int, after: String): PullRequestReviewThreadConnection!
  }
  input EnqueuePullRequestInput { pullRequestId: ID! expectedHeadOid: GitObjectID }
  type EnqueuePullRequestPayload { mergeQueueEntry: MergeQueueEntry }
  type Mutation { enqueuePullRequest(input: EnqueuePullRequestInput!): EnqueuePullRequestPayload }
  type Repository { pullRequest(number: Int!): PullRequest }
  type User { login: String! }
  type Query { viewer: User! repository(owner: String!, name: String!, followRenames: Boolean = true): Repository }
`);

/** Answers are 200 whatever is wrong with the query; what is wrong stands beside the data. */
export function answerGraph(context: RouteContext, request: RecordedRequest): Answer {
  if (request.method !== 'POST') return refusal(404, 'Not Found');
  const { query, variables } = request.json() as { query: string; variables?: Record<string, unknown> };
  const { data, errors } = graphqlSync({ schema: SCHEMA, source: query, variableValues: variables, rootValue: root(context) });
  const body = { data: data ?? null, ...(errors ? { errors: errors.map(wireError) } : {}) };
  return { status: 200, body };
}

function root({ store, pulls }: RouteContext) {
  return {
    viewer: { login: 'foray-bot' },
    repository: ({ owner, name }: { owner: string; name: string }) => {
      const repo = store.repo(`${owner}/${name}`);
      if (!repo) throw new NotFound(`Could not resolve to a Repository with the name '${owner}/${name}'.`);
      return {
        pullRequest: ({ number }: { number: number }) => {
          const pull = pulls.find(repo, number);
          if (!pull) throw new NotFound(`Could not resolve to a PullRequest with the number of ${number}.`);
          const mergeCommit = pull.mergeCommitSha === null ? null : { oid: pull.mergeCommitSha };
          const isInMergeQueue = pull.queuedSha !== null;
          const queue = { isMergeQueueEnabled: pull.hasQueue, isInMergeQueue };
          return {
            id: `PR_${number}`,
            number,
            reviewDecision: decisionOf(pull),
            mergeCommit,
            ...queue,
            reviewThreads: threadsOf(pull),
          };
        },
      };
    },
    enqueuePullRequest: ({ input }: { input: { pullRequestId: string; expectedHeadOid: string } }) => {
      const pull = pulls.get(Number(input.pullRequestId.slice('PR_'.length)));
      if (pull.headSha !== input.expectedHeadOid) throw new Error('Head branch was modified. Review and try the merge again.');
      pull.queuedSha = pull.headSha;
      return { mergeQueueEntry: { id: 'MQE_1' } };
    },
  };
}

/** Each comment starts a conversation of its own. */
function threadsOf({ comments }: FakePull) {
  const nodes = comments.map(({ id, resolved }) => ({ isResolved: resolved, comments: { nodes: [{ databaseId: id }] } }));
  return { pageInfo: { hasNextPage: false, endCursor: null }, nodes };
}

class NotFound extends Error {}

function wireError(error: GraphQLError): Record<string, unknown> {
  const type = error.originalError instanceof NotFound ? { type: 'NOT_FOUND' } : {};
  return { ...type, path: error.path, locations: error.locations, message: error.message };
}

// Null wherever the base branch asks for no reviews, approved or not.
function decisionOf(pull: FakePull): string | null {
  if (pull.decision !== null) return pull.decision;
  if (!pull.requiresReviews) return null;
  const last = new Map(
    pull.reviews.filter(({ state }) => state !== 'COMMENTED' && state !== 'PENDING').map((one) => [one.author, one.state]),
  );
  const states = [...last.values()];
  if (states.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  return states.includes('APPROVED') ? 'APPROVED' : 'REVIEW_REQUIRED';
}
