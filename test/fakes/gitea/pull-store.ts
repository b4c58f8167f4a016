import type { FakeIssue, NewIssue, Store } from './store.ts';
import { addEvent, addIssue } from './store.ts';

/** What a pull request has beyond its issue. */
export interface FakePull {
  readonly number: number;
  /** The repository of the branch; 1 is the project, -1 a fork that was deleted. */
  headRepoId: number;
  readonly headBranch: string;
  headSha: string;
  readonly baseBranch: string;
  draft: boolean;
  /** False for a conflict as well as while the forge is still looking. */
  mergeable: boolean;
  /** The forge believes that it can be merged and finds out otherwise when it tries. */
  conflicts: boolean;
  requestedReviewers: readonly string[];
  merged: { readonly by: string; readonly at: string; readonly sha: string } | null;
  readonly reviews: FakeReview[];
}

export type ReviewState = 'APPROVED' | 'PENDING' | 'COMMENT' | 'REQUEST_CHANGES' | 'REQUEST_REVIEW';

export interface FakeReview {
  readonly id: number;
  /** Null: the account was deleted. */
  readonly author: string | null;
  readonly state: ReviewState;
  /** Whether its author may decide here; a comment never is. */
  readonly official: boolean;
  readonly body: string;
  readonly submittedAt: string;
  dismissed: boolean;
  readonly comments: FakeInline[];
}

export interface FakeInline {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  readonly path: string;
  readonly position: number;
  readonly originalPosition: number;
  readonly createdAt: string;
  readonly resolvedBy: string | null;
}

export interface FakeStatus {
  readonly id: number;
  readonly context: string;
  readonly status: string;
  readonly description: string;
  readonly targetUrl: string;
  readonly createdAt: string;
}

export type PullEdit = Partial<Pick<FakePull, 'draft' | 'mergeable' | 'conflicts' | 'requestedReviewers'>>;
export type NewPull = Omit<NewIssue, 'isPull'> & PullEdit & { readonly branch?: string; readonly sha?: string };
export type NewStatus = Partial<Omit<FakeStatus, 'id' | 'createdAt'>>;
export type NewInline = Partial<Omit<FakeInline, 'id' | 'createdAt'>>;
export type NewReview = Partial<Omit<FakeReview, 'id' | 'comments'>> & { readonly comments?: readonly NewInline[] };

export function addPull(store: Store, { branch, sha, ...given }: NewPull): FakePull {
  const issue = addIssue(store, { ...given, isPull: true });
  return openPull(store, issue, { ...given, branch, sha });
}

/** The pull request of an issue. One that was seeded as a mere issue is filled in when it is first looked at. */
export function pullOf(store: Store, issue: FakeIssue): FakePull | undefined {
  return issue.isPull ? (store.pulls.get(issue.number) ?? openPull(store, issue, {})) : undefined;
}

function openPull(store: Store, { number }: FakeIssue, given: NewPull): FakePull {
  const pull: FakePull = {
    number,
    headRepoId: 1,
    headBranch: given.branch ?? `branch-${number}`,
    headSha: given.sha ?? number.toString(16).padStart(40, 'b'),
    baseBranch: 'main',
    draft: given.draft ?? false,
    mergeable: given.mergeable ?? true,
    conflicts: given.conflicts ?? false,
    requestedReviewers: given.requestedReviewers ?? [],
    merged: null,
    reviews: [],
  };
  store.pulls.set(number, pull);
  setHead(store, pull, pull.headSha);
  return pull;
}

/** A push to the branch of the pull request. */
export function setHead(store: Store, pull: FakePull, sha: string): void {
  pull.headSha = sha;
  store.branches.set(pull.headBranch, sha);
  if (!store.commits.has(sha)) store.commits.set(sha, []);
}

export function mergePull(store: Store, pull: FakePull, by: string): void {
  const issue = store.issues.get(pull.number);
  if (!issue) throw new Error(`the fake has no pull request ${pull.number}`);
  const at = store.now();
  pull.merged = { by, at, sha: pull.number.toString(16).padStart(40, 'c') };
  pull.mergeable = false;
  issue.state = 'closed';
  issue.closedAt = at;
  store.branches.set(pull.baseBranch, pull.merged.sha);
  store.commits.set(pull.merged.sha, []);
  addEvent(store, issue, { type: 'merge_pull', author: by, body: '' });
}

/** The inline comments come into the timeline before the review that they belong to. */
export function addReview(store: Store, pull: FakePull, given: NewReview): FakeReview {
  const issue = store.issues.get(pull.number);
  const author = given.author === undefined ? 'rita' : given.author;
  const comments = (given.comments ?? []).map((comment) => inline(store, comment, author ?? 'Ghost'));
  for (const { id, author: writer, body, createdAt } of comments) {
    issue?.timeline.push({ id, type: 'code', author: writer, body, createdAt });
  }
  const review: FakeReview = {
    id: store.nextId(),
    author,
    state: given.state ?? 'COMMENT',
    official: given.official ?? ['APPROVED', 'REQUEST_CHANGES'].includes(given.state ?? ''),
    body: given.body ?? '',
    submittedAt: given.submittedAt ?? store.now(),
    dismissed: given.dismissed ?? false,
    comments,
  };
  pull.reviews.push(review);
  if (issue) addEvent(store, issue, { type: 'review', author: author ?? 'Ghost', body: review.body });
  return review;
}

function inline(store: Store, given: NewInline, author: string): FakeInline {
  return {
    id: store.nextId(),
    author: given.author ?? author,
    body: given.body ?? 'please change this',
    path: given.path ?? 'src/a.ts',
    position: given.position ?? 3,
    originalPosition: given.originalPosition ?? 0,
    createdAt: store.now(),
    resolvedBy: given.resolvedBy ?? null,
  };
}

export function addStatus(store: Store, sha: string, given: NewStatus): FakeStatus {
  const status: FakeStatus = {
    id: store.nextId(),
    context: given.context ?? 'ci/test',
    status: given.status ?? 'success',
    description: given.description ?? '',
    targetUrl: given.targetUrl ?? '',
    createdAt: store.now(),
  };
  const all = store.commits.get(sha);
  if (!all) throw new Error(`the fake has no commit ${sha}`);
  all.push(status);
  return status;
}

/** The latest of each context, newest first. */
export function latestStatuses(all: readonly FakeStatus[]): readonly FakeStatus[] {
  const latest = new Map(all.map((status) => [status.context, status]));
  return [...latest.values()].toSorted((a, b) => b.id - a.id);
}

/** The commit of a branch or of its own SHA. */
export function commitOf(store: Store, ref: string): string | undefined {
  return store.branches.get(ref) ?? (store.commits.has(ref) ? ref : undefined);
}
