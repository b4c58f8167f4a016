import type {
  LabelEvent,
  Mergeability,
  MergeStatus,
  ReviewComment,
  ReviewDecision,
} from '../../src/domain/model/merge-request.ts';
import type { ReactionSettings } from '../../src/domain/model/settings.ts';

/** A merge request of the simulation, with what is remembered of it to hold the core against. */
export interface Request {
  readonly number: number;
  /** Somebody else's, from a fork: nothing may be done about it. */
  readonly fork: boolean;
  /** Whose it is; null for a stranger's. */
  readonly issueId: string | null;
  head: string;
  ci: 'success' | 'failing' | 'pending';
  mergeability: Mergeability;
  decision: ReviewDecision;
  /** A stranger approved it, which counts only where anyone is heard. */
  strangerApproves: boolean;
  comments: ReviewComment[];
  labels: Set<string>;
  events: LabelEvent[];
  draft: boolean;
  merged: 'no' | 'by us' | 'by others';
  closed: boolean;
  given: Set<string>;
  lastGiven: readonly string[];
  /** What the last run was given; whoever releases it after it was parked has it given again. */
  inHand: readonly string[];
  /** What the last look said of readiness, by head. */
  ready: Map<string, boolean>;
}

export const OWN_ACCOUNT = 'foray-bot';
export const STRANGER = 'mallory';

/** Without an issue it is a stranger's, from a fork. */
export function newRequest(number: number, head: string, issueId: string | null): Request {
  return {
    number,
    fork: issueId === null,
    issueId,
    head,
    ci: 'pending',
    mergeability: 'unknown',
    decision: 'REVIEW_REQUIRED',
    strangerApproves: false,
    comments: [],
    labels: new Set(),
    events: [],
    draft: false,
    merged: 'no',
    closed: false,
    given: new Set(),
    lastGiven: [],
    inHand: [],
    ready: new Map(),
  };
}

export function statusOf(request: Request): MergeStatus {
  return {
    mergeability: request.mergeability,
    draft: request.draft,
    merged: request.merged !== 'no',
    closed: request.closed,
    headSha: request.head,
    headBranch: `b${request.number}`,
    baseBranch: 'main',
    fork: request.fork,
    projectId: '',
    mergeCommitSha: '',
    labels: [...request.labels],
    url: '',
  };
}

/** As the forge's adapter tells it to those who hear only some of the people. */
export function decisionFor({ decision, strangerApproves }: Request, { votes }: ReactionSettings): ReviewDecision {
  return decision === 'REVIEW_REQUIRED' && strangerApproves && votes === 'anyone' ? 'APPROVED' : decision;
}

export function isReady(request: Request, decision: ReviewDecision): boolean {
  const approved = decision === 'APPROVED' || decision === 'NOT_REQUIRED';
  return request.mergeability === 'clean' && approved && request.ci === 'success' && !request.draft;
}

/** Whether the words of a person on a request count. */
export function isHeard({ on }: ReactionSettings, person: string): boolean {
  return person !== STRANGER || on.review_comments?.trust === 'anyone';
}

export function commentAt(id: string, submittedAt: string, reviewer: string): ReviewComment {
  return { id, file: 'a.ts', startLine: 1, endLine: 1, reviewer, body: 'change this', outdated: false, submittedAt };
}
