import type { FakeComment, FakeIssue, FakeLabel, ForeignIssue, Store } from './store.ts';
import { labelsOf } from './store.ts';

/** The shapes of the vendor's answers, nulls and all. `base` is the address of the instance. */
export function userBody(login: string, base: string) {
  return {
    id: idOf(login),
    login,
    login_name: '',
    source_id: 0,
    full_name: '',
    email: `${login}@noreply.example.org`,
    avatar_url: `${base}/avatars/${login}`,
    html_url: `${base}/${login}`,
    language: '',
    is_admin: false,
    last_login: '0001-01-01T00:00:00Z',
    created: '2025-01-01T00:00:00Z',
    restricted: false,
    active: false,
    prohibit_login: false,
    location: '',
    website: '',
    description: '',
    visibility: 'public',
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: login,
  };
}

export function repositoryBody(
  { owner, repo }: Store,
  base: string,
  { archived = false, mayPush = true, dependenciesEnabled = true, isPublic = false } = {},
) {
  return {
    id: 1,
    owner: userBody(owner, base),
    name: repo,
    full_name: `${owner}/${repo}`,
    description: '',
    empty: false,
    private: !isPublic,
    fork: false,
    html_url: `${base}/${owner}/${repo}`,
    clone_url: `${base}/${owner}/${repo}.git`,
    default_branch: 'main',
    archived,
    has_issues: true,
    internal_tracker: {
      enable_time_tracker: true,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: dependenciesEnabled,
    },
    has_pull_requests: true,
    permissions: { admin: false, push: mayPush, pull: true },
    created_at: '2025-01-01T00:00:00Z',
    updated_at: '2025-01-01T00:00:00Z',
  };
}

export function labelBody({ owner, repo }: Store, label: FakeLabel, base: string) {
  const home = label.ofOrganization ? `orgs/${owner}` : `repos/${owner}/${repo}`;
  return {
    id: label.id,
    name: label.name,
    exclusive: false,
    is_archived: false,
    color: label.color,
    description: '',
    url: `${base}/api/v1/${home}/labels/${label.id}`,
  };
}

export function issueBody(store: Store, issue: FakeIssue, base: string) {
  const { owner, repo } = store;
  const page = `${base}/${owner}/${repo}/${issue.isPull ? 'pulls' : 'issues'}/${issue.number}`;
  const assignees = issue.assignees.map((login) => userBody(login, base));
  return {
    id: issue.id,
    url: `${base}/api/v1/repos/${owner}/${repo}/issues/${issue.number}`,
    html_url: page,
    number: issue.number,
    user: userBody(issue.author, base),
    original_author: '',
    original_author_id: 0,
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    assets: [],
    labels: labelsOf(store, issue).map((label) => labelBody(store, label, base)),
    milestone: null,
    assignee: assignees[0] ?? null,
    assignees: assignees.length > 0 ? assignees : null,
    state: issue.state,
    is_locked: false,
    comments: issue.comments.length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    due_date: null,
    time_estimate: 0,
    pull_request: issue.isPull ? { draft: false, merged: false, merged_at: null, html_url: page } : null,
    repository: { id: 1, name: repo, owner, full_name: `${owner}/${repo}` },
    pin_order: 0,
  };
}

/** A blocker of another repository; one that may not be seen is a shell with number 0. */
export function foreignBody(issue: ForeignIssue, base: string) {
  const [owner = '', name = ''] = issue.repository?.split('/') ?? [];
  return {
    id: 0,
    number: issue.repository === null ? 0 : issue.number,
    title: issue.repository === null ? 'HIDDEN' : `Issue ${issue.number}`,
    body: '',
    ref: '',
    labels: issue.labels.map((label, index) => ({ id: index + 1, name: label, color: 'cccccc', url: `${base}/labels/${index}` })),
    state: issue.repository === null ? 'open' : issue.state,
    created_at: '2025-01-01T00:00:00Z',
    updated_at: '2025-01-01T00:00:00Z',
    closed_at: null,
    pull_request: null,
    ...(issue.repository === null ? {} : { repository: { id: 2, name, owner, full_name: issue.repository } }),
  };
}

export function commentBody({ owner, repo }: Store, issue: FakeIssue, comment: FakeComment, base: string) {
  const page = `${base}/${owner}/${repo}/${issue.isPull ? 'pulls' : 'issues'}/${issue.number}`;
  return {
    id: comment.id,
    html_url: `${page}#issuecomment-${comment.id}`,
    pull_request_url: issue.isPull ? page : '',
    issue_url: issue.isPull ? '' : page,
    user: userBody(comment.author, base),
    original_author: '',
    original_author_id: 0,
    body: comment.body,
    assets: [],
    created_at: comment.createdAt,
    updated_at: comment.createdAt,
  };
}

function idOf(login: string): number {
  return [...login].reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), 7) % 100_000;
}
