import type { FakeCheckRun } from './pull-store.ts';
import { wireMinimalRepo } from './repo-wire.ts';
import type { FakeRepo } from './store.ts';
import { repoUrl, WEB, type WireContext } from './wire.ts';

/** Names of the fields of a run of Actions that only lead somewhere. */
const LINKS = 'jobs logs check_suite artifacts cancel rerun workflow'.split(' ');

export function wireWorkflowRun(
  { context, repo }: { context: WireContext; repo: FakeRepo },
  sha: string,
  { id, name, status, conclusion }: Pick<FakeCheckRun, 'id' | 'name' | 'status' | 'conclusion'>,
): Record<string, unknown> {
  const url = `${repoUrl(context, repo)}/actions/runs/${id}`;
  const repository = wireMinimalRepo(context, repo);
  return {
    ...Object.fromEntries(LINKS.map((link) => [`${link}_url`, `${url}/${link}`])),
    id,
    node_id: `WFR_${id}`,
    name,
    display_title: 'A commit',
    head_branch: 'main',
    head_sha: sha,
    path: '.github/workflows/ci.yml',
    run_number: 1,
    event: 'push',
    status,
    conclusion,
    workflow_id: 1,
    url,
    html_url: `${WEB}/${repo.owner}/${repo.name}/actions/runs/${id}`,
    pull_requests: [],
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    head_commit: null,
    repository,
    head_repository: repository,
  };
}
