import type { FakeRepo } from './store.ts';
import { repoUrl, WEB, type WireContext, wireUser } from './wire.ts';

/** Names of the fields that only lead somewhere, as most of a repository's do. */
const LINKS = [
  'archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url compare_url contents_url',
  'contributors_url deployments_url downloads_url events_url forks_url git_commits_url git_refs_url git_tags_url hooks_url',
  'issue_comment_url issue_events_url issues_url keys_url labels_url languages_url merges_url milestones_url',
  'notifications_url pulls_url releases_url stargazers_url statuses_url subscribers_url subscription_url tags_url teams_url',
  'trees_url',
].flatMap((line) => line.split(' '));

/** The short form, as it comes with commit statuses. */
export function wireMinimalRepo(context: WireContext, repo: FakeRepo): Record<string, unknown> {
  const url = repoUrl(context, repo);
  return {
    ...Object.fromEntries(LINKS.map((name) => [name, `${url}/${name.replace(/_url$/, '')}`])),
    id: repo.id,
    node_id: `R_${repo.id}`,
    name: repo.name,
    full_name: `${repo.owner}/${repo.name}`,
    private: !context.store.isPublic,
    owner: wireUser(context, repo.owner),
    html_url: `${WEB}/${repo.owner}/${repo.name}`,
    description: null,
    fork: false,
    url,
  };
}

export function wireRepo(context: WireContext, repo: FakeRepo): Record<string, unknown> {
  const page = `${WEB}/${repo.owner}/${repo.name}`;
  const counts = [
    'forks',
    'forks_count',
    'open_issues',
    'open_issues_count',
    'size',
    'stargazers_count',
    'watchers',
    'watchers_count',
  ];
  const flags = ['has_issues', 'has_discussions', 'has_projects', 'has_wiki', 'has_pages', 'archived', 'disabled'];
  return {
    ...wireMinimalRepo(context, repo),
    ...Object.fromEntries(counts.map((name) => [name, 0])),
    ...Object.fromEntries(flags.map((name) => [name, false])),
    clone_url: `${page}.git`,
    git_url: `git://forge.example/${repo.owner}/${repo.name}.git`,
    ssh_url: `git@forge.example:${repo.owner}/${repo.name}.git`,
    svn_url: page,
    default_branch: 'main',
    homepage: null,
    language: null,
    mirror_url: null,
    license: null,
    pushed_at: '2026-01-01T00:00:00Z',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

/** As its own route shows it. */
export function wireFullRepo(context: WireContext, repo: FakeRepo): Record<string, unknown> {
  return { ...wireRepo(context, repo), network_count: 0, subscribers_count: 0 };
}
