import type { FakeInline, FakePull, FakeReview, FakeStatus } from './pull-store.ts';
import type { FakeEvent, FakeIssue, Store } from './store.ts';
import { issueBody, labelBody, repositoryBody, userBody } from './wire.ts';

/** What an issue tells and a pull request does not. */
const ISSUE_ONLY = ['repository', 'pull_request', 'ref', 'assets', 'original_author', 'original_author_id', 'time_estimate'];

/** The shapes of the vendor's answers about pull requests. */
export function pullBody(store: Store, issue: FakeIssue, pull: FakePull, base: string) {
  const whole: Readonly<Record<string, unknown>> = issueBody(store, issue, base);
  const shared = Object.fromEntries(Object.entries(whole).filter(([key]) => !ISSUE_ONLY.includes(key)));
  const inline = pull.reviews.reduce((sum, { comments }) => sum + comments.length, 0);
  const page = pageOf(store, issue, base);
  const repo = repositoryBody(store, base);
  const branchLives = store.branches.has(pull.headBranch);
  return {
    ...shared,
    url: page,
    draft: pull.draft,
    // A draft is never mergeable.
    mergeable: pull.mergeable && !pull.draft,
    merged: pull.merged !== null,
    merged_at: pull.merged?.at ?? null,
    merge_commit_sha: pull.merged?.sha ?? null,
    merged_by: pull.merged ? userBody(pull.merged.by, base) : null,
    merge_base: store.branches.get('main') ?? '',
    requested_reviewers: askedOf(pull).map((login) => userBody(login, base)),
    requested_reviewers_teams: [],
    // Left out where there are none.
    ...(inline > 0 ? { review_comments: inline } : {}),
    allow_maintainer_edit: false,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    base: { label: pull.baseBranch, ref: pull.baseBranch, sha: store.branches.get(pull.baseBranch) ?? '', repo_id: 1, repo },
    // Once the branch is gone only the hidden reference of the pull request is left.
    head: {
      label: pull.headBranch,
      ref: branchLives ? pull.headBranch : `refs/pull/${pull.number}/head`,
      sha: pull.headSha,
      repo_id: pull.headRepoId,
      repo: pull.headRepoId === 1 ? repo : null,
    },
  };
}

export function reviewBody(store: Store, issue: FakeIssue, review: FakeReview, base: string) {
  const page = pageOf(store, issue, base);
  return {
    id: review.id,
    user: review.author === null ? null : userBody(review.author, base),
    team: null,
    state: review.state,
    body: review.body,
    commit_id: store.pulls.get(issue.number)?.headSha ?? '',
    stale: false,
    official: review.official,
    dismissed: review.dismissed,
    comments_count: review.comments.length,
    submitted_at: review.submittedAt,
    updated_at: review.submittedAt,
    html_url: `${page}#issuecomment-${review.id}`,
    pull_request_url: page,
  };
}

export function inlineBody(
  store: Store,
  issue: FakeIssue,
  { review, comment }: { review: FakeReview; comment: FakeInline },
  base: string,
) {
  const page = pageOf(store, issue, base);
  return {
    id: comment.id,
    body: comment.body,
    user: userBody(comment.author, base),
    resolver: comment.resolvedBy === null ? null : userBody(comment.resolvedBy, base),
    pull_request_review_id: review.id,
    created_at: comment.createdAt,
    updated_at: comment.createdAt,
    path: comment.path,
    commit_id: store.pulls.get(issue.number)?.headSha ?? '',
    original_commit_id: '',
    diff_hunk: '@@ -1,2 +1,3 @@',
    position: comment.position,
    original_position: comment.originalPosition,
    html_url: `${page}#issuecomment-${comment.id}`,
    pull_request_url: page,
  };
}

/** The label is null once it was deleted. */
export function eventBody(store: Store, issue: FakeIssue, event: FakeEvent, base: string) {
  const page = pageOf(store, issue, base);
  const label = store.labels.find(({ id }) => id === event.labelId);
  return {
    id: event.id,
    type: event.type,
    html_url: `${page}#issuecomment-${event.id}`,
    pull_request_url: issue.isPull ? page : '',
    issue_url: issue.isPull ? '' : page,
    user: userBody(event.author, base),
    body: event.body,
    created_at: event.createdAt,
    updated_at: event.createdAt,
    old_project_id: 0,
    project_id: 0,
    old_milestone: null,
    milestone: null,
    tracked_time: null,
    old_title: '',
    new_title: '',
    old_ref: '',
    new_ref: '',
    ref_issue: null,
    ref_comment: null,
    ref_action: '',
    ref_commit_sha: '',
    review_id: 0,
    label: label ? labelBody(store, label, base) : null,
    assignee: null,
    assignee_team: null,
    removed_assignee: false,
    resolve_doer: null,
    dependent_issue: null,
  };
}

export function statusBody(status: FakeStatus, base: string) {
  return {
    id: status.id,
    status: status.status,
    target_url: status.targetUrl,
    description: status.description,
    url: `${base}/api/v1/statuses/${status.id}`,
    context: status.context,
    creator: userBody('ci', base),
    created_at: status.createdAt,
    updated_at: status.createdAt,
  };
}

/** Its total is that of the page, and its state says pending where there is no CI at all. */
export function combinedBody(store: Store, sha: string, statuses: readonly FakeStatus[], base: string) {
  const worst = ['error', 'failure', 'pending', 'warning', 'success'].find((one) =>
    statuses.some(({ status }) => status === one),
  );
  const commit = `${base}/api/v1/repos/${store.owner}/${store.repo}/commits/${sha}`;
  return {
    state: worst ?? 'pending',
    sha,
    total_count: statuses.length,
    statuses: statuses.map((status) => statusBody(status, base)),
    repository: repositoryBody(store, base),
    commit_url: commit,
    url: `${commit}/status`,
  };
}

function pageOf({ owner, repo }: Store, issue: FakeIssue, base: string): string {
  return `${base}/${owner}/${repo}/${issue.isPull ? 'pulls' : 'issues'}/${issue.number}`;
}

/** Whoever was asked, and whoever left a word that was not dismissed: the vendor tells no difference here. */
function askedOf({ requestedReviewers, reviews }: FakePull): readonly string[] {
  const spoke = reviews.filter(({ state, dismissed }) => state !== 'PENDING' && !dismissed).map(({ author }) => author);
  return [...new Set([...requestedReviewers, ...spoke])].filter((login) => login !== null);
}
