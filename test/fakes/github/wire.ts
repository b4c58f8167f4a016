import type { FakeComment, FakeIssue, FakeRepo, Store } from './store.ts';

/** What the wire form of a record depends on beside the record. */
export interface WireContext {
  /** Base address of the API, without a trailing slash. */
  readonly api: string;
  /** As the request asked for: newer versions leave old fields out. */
  readonly apiVersion: string;
  /** False: an enterprise edition from before issue dependencies. */
  readonly dependencies: boolean;
  readonly store: Store;
}

export const WEB = 'https://forge.example';

export function wireIssue(context: WireContext, repo: FakeRepo, issue: FakeIssue): Record<string, unknown> {
  const url = `${repoUrl(context, repo)}/issues/${issue.number}`;
  const page = `${WEB}/${repo.owner}/${repo.name}/${issue.pullRequest ? 'pull' : 'issues'}/${issue.number}`;
  return {
    ...issueUrls(url, page, repoUrl(context, repo)),
    id: issue.globalId,
    node_id: `I_${issue.globalId}`,
    number: issue.number,
    title: issue.title,
    user: wireUser(context, issue.author),
    labels: issue.labels.map((name) => wireLabel(context, repo, name)),
    state: issue.state,
    locked: issue.locked,
    assignees: issue.assignees.map((login) => wireUser(context, login)),
    // Left out since the version of 2026.
    ...(context.apiVersion < '2026' ? { assignee: issue.assignees[0] ? wireUser(context, issue.assignees[0]) : null } : {}),
    milestone: null,
    comments: issue.comments.length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    author_association: associationOf(context, issue.author),
    type: issue.type === null ? null : wireType(issue.type),
    active_lock_reason: null,
    body: issue.body,
    closed_by: null,
    performed_via_github_app: null,
    state_reason: issue.stateReason,
    ...(issue.pullRequest ? pullRequestMarker(context, repo, issue) : dependencySummary(context, issue)),
  };
}

function issueUrls(url: string, page: string, repository: string): Record<string, unknown> {
  return {
    url,
    repository_url: repository,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    timeline_url: `${url}/timeline`,
  };
}

function pullRequestMarker(context: WireContext, repo: FakeRepo, { number }: FakeIssue): Record<string, unknown> {
  const page = `${WEB}/${repo.owner}/${repo.name}/pull/${number}`;
  const url = `${repoUrl(context, repo)}/pulls/${number}`;
  return {
    draft: false,
    pull_request: { url, html_url: page, diff_url: `${page}.diff`, patch_url: `${page}.patch` },
  };
}

function dependencySummary({ dependencies, store }: WireContext, issue: FakeIssue): Record<string, unknown> {
  if (!dependencies) return {};
  const open = issue.blockedBy.filter((place) => store.find(place)?.issue.state === 'open').length;
  return {
    issue_dependencies_summary: { blocked_by: open, total_blocked_by: issue.blockedBy.length, blocking: 0, total_blocking: 0 },
    sub_issues_summary: { total: 0, completed: 0, percent_completed: 0 },
  };
}

export function wireComment(
  context: WireContext,
  repo: FakeRepo,
  issue: FakeIssue,
  comment: FakeComment,
): Record<string, unknown> {
  const issueUrl = `${repoUrl(context, repo)}/issues/${issue.number}`;
  return {
    id: comment.id,
    node_id: `IC_${comment.id}`,
    url: `${repoUrl(context, repo)}/issues/comments/${comment.id}`,
    html_url: `${WEB}/${repo.owner}/${repo.name}/issues/${issue.number}#issuecomment-${comment.id}`,
    issue_url: issueUrl,
    body: comment.body,
    user: comment.author === null ? null : wireUser(context, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.createdAt,
    author_association: associationOf(context, comment.author ?? ''),
    performed_via_github_app: null,
  };
}

function associationOf({ store }: WireContext, login: string): string {
  return store.strangers.has(login) ? 'NONE' : 'MEMBER';
}

export function wireLabel(context: WireContext, repo: FakeRepo, name: string): Record<string, unknown> {
  const id = 1 + [...repo.labels.keys()].indexOf(name.toLowerCase());
  return {
    id,
    node_id: `LA_${id}`,
    url: `${repoUrl(context, repo)}/labels/${encodeURIComponent(name)}`,
    name,
    color: 'ededed',
    default: false,
    description: null,
  };
}

function wireType(name: string): Record<string, unknown> {
  return { id: 1, node_id: 'IT_1', name, description: null, color: 'blue', is_enabled: true };
}

export function wireUser({ api, store }: WireContext, login: string): Record<string, unknown> {
  const url = `${api}/users/${login}`;
  return {
    login,
    id: [...login].reduce((sum, letter) => sum * 7 + letter.charCodeAt(0), 1) % 100_000,
    node_id: `U_${login}`,
    avatar_url: `${WEB}/avatars/${login}`,
    gravatar_id: '',
    url,
    html_url: `${WEB}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: store.bots.has(login) || login.endsWith('[bot]') ? 'Bot' : 'User',
    site_admin: false,
  };
}

/** Whose token it is: their account in full. */
export function wireOwnAccount(context: WireContext, login: string): Record<string, unknown> {
  const untold = ['name', 'company', 'location', 'email', 'hireable', 'bio'];
  const counts = ['public_repos', 'public_gists', 'followers', 'following'];
  return {
    ...wireUser(context, login),
    ...Object.fromEntries(untold.map((name) => [name, null])),
    ...Object.fromEntries(counts.map((name) => [name, 0])),
    blog: '',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

export function repoUrl({ api }: WireContext, { owner, name }: FakeRepo): string {
  return `${api}/repos/${owner}/${name}`;
}
