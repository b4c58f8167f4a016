import type { Call } from './answer.ts';
import type { FakeCheckRun, FakeJob, FakePull, FakeReview, FakeReviewComment, FakeStatus } from './pull-store.ts';
import { wireRepo } from './repo-wire.ts';
import type { FakeEvent } from './store.ts';
import { repoUrl, WEB, wireLabel, wireUser } from './wire.ts';

type Place = Pick<Call, 'context' | 'repo'>;

export function wirePull({ context, repo }: Place, pull: FakePull): Record<string, unknown> {
  const { issue } = pull;
  const page = pullPage({ context, repo }, pull);
  const side = (ref: string, sha: string): Record<string, unknown> => ({
    label: `${repo.owner}:${ref}`,
    ref,
    sha,
    user: wireUser(context, repo.owner),
    repo: wireRepo(context, repo),
  });
  return {
    ...pullUrls({ context, repo }, pull),
    id: issue.globalId,
    node_id: `PR_${issue.globalId}`,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    number: issue.number,
    state: issue.state,
    locked: issue.locked,
    title: issue.title,
    user: wireUser(context, issue.author),
    body: issue.body,
    labels: issue.labels.map((name) => wireLabel(context, repo, name)),
    milestone: null,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    merged_at: pull.mergedAt,
    // Both are left out since the version of 2026.
    ...(context.apiVersion < '2026' ? { merge_commit_sha: pull.mergeCommitSha, assignee: null } : {}),
    assignees: [],
    requested_reviewers: pull.requestedReviewers.map((login) => wireUser(context, login)),
    requested_teams: pull.requestedTeams.map((name, index) => wireTeam(context.api, name, index)),
    head: { ...side(pull.headRef, pull.headSha), ...sourceRepo(pull, wireRepo(context, repo)) },
    base: side(pull.baseRef, 'b'.repeat(40)),
    author_association: 'MEMBER',
    auto_merge: null,
    draft: pull.draft,
    merged: pull.merged,
    ...settled(pull),
    merged_by: pull.mergedBy === null ? null : wireUser(context, pull.mergedBy),
    comments: issue.comments.length,
    review_comments: pull.comments.length,
    maintainer_can_modify: false,
    commits: 1,
    additions: 1,
    deletions: 0,
    changed_files: 1,
  };
}

export function wireListedPull(place: Place, pull: FakePull): Record<string, unknown> {
  const known = { ...pull, unsettledReads: 0 };
  const own = [
    'merged',
    'mergeable',
    'rebaseable',
    'mergeable_state',
    'merged_by',
    'commits',
    'additions',
    'deletions',
    'changed_files',
  ];
  return Object.fromEntries(Object.entries(wirePull(place, known)).filter(([name]) => !own.includes(name)));
}

// To ask is what makes the remote work it out; it is known some time later.
function settled(pull: FakePull): Record<string, unknown> {
  const isKnown = pull.unsettledReads === 0;
  if (!isKnown) pull.unsettledReads -= 1;
  const { mergeable, mergeableState } = pull;
  return isKnown
    ? { mergeable, rebaseable: mergeable, mergeable_state: mergeableState }
    : { mergeable: null, rebaseable: null, mergeable_state: 'unknown' };
}

function pullUrls({ context, repo }: Place, { issue, headSha }: FakePull): Record<string, unknown> {
  const url = `${repoUrl(context, repo)}/pulls/${issue.number}`;
  const issueUrl = `${repoUrl(context, repo)}/issues/${issue.number}`;
  const links = {
    comments: `${issueUrl}/comments`,
    commits: `${url}/commits`,
    statuses: `${repoUrl(context, repo)}/statuses/${headSha}`,
    review_comments: `${url}/comments`,
    review_comment: `${repoUrl(context, repo)}/pulls/comments{/number}`,
  };
  const all = { ...links, self: url, issue: issueUrl, html: pullPage({ context, repo }, { issue }) };
  return {
    ...Object.fromEntries(Object.entries(links).map(([name, href]) => [`${name}_url`, href])),
    url,
    issue_url: issueUrl,
    _links: Object.fromEntries(Object.entries(all).map(([name, href]) => [name, { href }])),
  };
}

function pullPage({ repo }: Place, { issue }: Pick<FakePull, 'issue'>): string {
  return `${WEB}/${repo.owner}/${repo.name}/pull/${issue.number}`;
}

function wireTeam(api: string, name: string, index: number): Record<string, unknown> {
  const url = `${api}/teams/${index + 1}`;
  const links = {
    url,
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    html_url: `${WEB}/teams/${name}`,
  };
  return {
    id: index + 1,
    node_id: `T_${index}`,
    name,
    slug: name,
    description: null,
    privacy: 'closed',
    permission: 'push',
    type: 'organization',
    parent: null,
    ...links,
  };
}

/** The repository of the head where it is not the one of the base. */
function sourceRepo({ source }: FakePull, own: Record<string, unknown>): Record<string, unknown> {
  if (source === 'own') return {};
  return { repo: source === 'fork' ? { ...own, id: 666, full_name: 'stranger/widgets', fork: true } : null };
}

export function wireReview(place: Place, pull: FakePull, review: FakeReview): Record<string, unknown> {
  const page = `${pullPage(place, pull)}#pullrequestreview-${review.id}`;
  const url = `${repoUrl(place.context, place.repo)}/pulls/${pull.issue.number}`;
  return {
    id: review.id,
    node_id: `PRR_${review.id}`,
    user: review.author === null ? null : wireUser(place.context, review.author),
    body: review.body,
    state: review.state,
    html_url: page,
    pull_request_url: url,
    author_association: review.association,
    _links: { html: { href: page }, pull_request: { href: url } },
    ...(review.submittedAt === null ? {} : { submitted_at: review.submittedAt }),
    commit_id: pull.headSha,
  };
}

export function wireReviewComment(place: Place, pull: FakePull, comment: FakeReviewComment): Record<string, unknown> {
  const page = `${pullPage(place, pull)}#discussion_r${comment.id}`;
  const pullUrl = `${repoUrl(place.context, place.repo)}/pulls/${pull.issue.number}`;
  const url = `${repoUrl(place.context, place.repo)}/pulls/comments/${comment.id}`;
  return {
    id: comment.id,
    node_id: `PRRC_${comment.id}`,
    url,
    pull_request_review_id: comment.reviewId,
    diff_hunk: '@@ -1 +1 @@',
    path: comment.path,
    commit_id: pull.headSha,
    original_commit_id: pull.headSha,
    user: comment.author === null ? null : wireUser(place.context, comment.author),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.createdAt,
    html_url: page,
    pull_request_url: pullUrl,
    author_association: comment.association,
    _links: { self: { href: url }, html: { href: page }, pull_request: { href: pullUrl } },
    position: comment.position,
    original_position: comment.originalLine,
    line: comment.line,
    start_line: comment.startLine,
    original_line: comment.originalLine,
    original_start_line: comment.originalStartLine,
    start_side: null,
    side: 'RIGHT',
    subject_type: comment.subjectType,
  };
}

/** The list of one review has the comments without their lines: the trap of that route. */
export function wireLineless(place: Place, pull: FakePull, comment: FakeReviewComment): Record<string, unknown> {
  const lines = ['line', 'start_line', 'original_line', 'original_start_line', 'start_side', 'side', 'subject_type'];
  return Object.fromEntries(Object.entries(wireReviewComment(place, pull, comment)).filter(([name]) => !lines.includes(name)));
}

export function wireEvent({ context, repo }: Place, event: FakeEvent): Record<string, unknown> {
  const { id, event: name, label, actor, createdAt } = event;
  return {
    id,
    node_id: `E_${id}`,
    url: `${repoUrl(context, repo)}/issues/events/${id}`,
    actor: actor === null ? null : wireUser(context, actor),
    event: name,
    commit_id: null,
    commit_url: null,
    created_at: createdAt,
    performed_via_github_app: null,
    ...(label === null ? {} : { label: { name: label, color: 'ededed' } }),
  };
}

export function wireCheckRun({ context, repo }: Place, sha: string, run: FakeCheckRun): Record<string, unknown> {
  const url = `${repoUrl(context, repo)}/check-runs/${run.id}`;
  const page = `${WEB}/${repo.owner}/${repo.name}/runs/${run.id}`;
  return {
    id: run.id,
    node_id: `CR_${run.id}`,
    head_sha: sha,
    external_id: '',
    url,
    html_url: page,
    details_url: page,
    status: run.status,
    conclusion: run.conclusion,
    started_at: '2026-01-01T00:00:00Z',
    completed_at: run.conclusion === null ? null : '2026-01-01T00:10:00Z',
    output: { ...run.output, annotations_count: 0, annotations_url: `${url}/annotations` },
    name: run.name,
    check_suite: { id: run.workflowRun.suite },
    app: wireApp({ context, repo }, run.app),
    pull_requests: [],
  };
}

function wireApp({ context, repo }: Place, slug: string): Record<string, unknown> {
  const times = { created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00Z' };
  const page = { external_url: WEB, html_url: `${WEB}/apps/${slug}` };
  const owner = wireUser(context, repo.owner);
  return { id: 1, node_id: 'A_1', slug, owner, name: slug, description: null, ...page, ...times, permissions: {}, events: [] };
}

export function wireStatus({ context, repo }: Place, sha: string, status: FakeStatus): Record<string, unknown> {
  const { id, context: name, state, description, targetUrl, createdAt } = status;
  return {
    id,
    node_id: `S_${id}`,
    url: `${repoUrl(context, repo)}/statuses/${sha}`,
    avatar_url: null,
    state,
    description,
    target_url: targetUrl,
    context: name,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

export function wireJob({ context, repo }: Place, job: FakeJob): Record<string, unknown> {
  const url = `${repoUrl(context, repo)}/actions/jobs/${job.id}`;
  const times = { created_at: '2026-01-01T00:00:00Z', started_at: '2026-01-01T00:00:00Z', completed_at: '2026-01-01T00:10:00Z' };
  const run = { run_id: 1, run_url: `${repoUrl(context, repo)}/actions/runs/1`, run_attempt: 1, workflow_name: 'CI' };
  const runner = { runner_id: 1, runner_name: 'r', runner_group_id: 1, runner_group_name: 'g', labels: ['ubuntu-latest'] };
  return {
    id: job.id,
    node_id: `J_${job.id}`,
    head_sha: 'a'.repeat(40),
    head_branch: 'main',
    url,
    html_url: `${WEB}/${repo.owner}/${repo.name}/runs/${job.id}`,
    status: 'completed',
    conclusion: job.conclusion,
    name: job.name,
    check_run_url: `${repoUrl(context, repo)}/check-runs/${job.id}`,
    steps: job.steps.map(({ name, conclusion, started, completed }, index) => ({
      name,
      status: 'completed',
      conclusion,
      number: index + 1,
      started_at: started,
      completed_at: completed,
    })),
    ...times,
    ...run,
    ...runner,
  };
}
