import type { FakeCheckRun } from './pull-store.ts';
import { wireMinimalRepo } from './repo-wire.ts';
import type { FakeRepo } from './store.ts';
import { repoUrl, WEB, type WireContext } from './wire.ts';

/** Names of the fields of a run of Actions that only lead somewhere. */
const LINKS = 'jobs logs check_suite artifacts cancel rerun workflow'.split(' ');

/** The run of a workflow, by the check runs of its jobs. */
export function wireWorkflowRun(
  { context, repo }: { context: WireContext; repo: FakeRepo },
  sha: string,
  jobs: readonly FakeCheckRun[],
): Record<string, unknown> {
  const [first] = jobs;
  if (first === undefined) throw new Error('a run of a workflow has jobs');
  const { suite: id, workflow, number, event, requests = [1] } = first.workflowRun;
  // The first that is not good tells what the run came to.
  const { status, conclusion } = jobs.find((job) => job.conclusion !== 'success') ?? first;
  const url = `${repoUrl(context, repo)}/actions/runs/${id}`;
  const repository = wireMinimalRepo(context, repo);
  return {
    ...Object.fromEntries(LINKS.map((link) => [`${link}_url`, `${url}/${link}`])),
    id,
    node_id: `WFR_${id}`,
    name: 'CI',
    check_suite_id: id,
    check_suite_node_id: `CS_${id}`,
    display_title: 'A commit',
    head_branch: 'main',
    head_sha: sha,
    path: '.github/workflows/ci.yml',
    run_number: number,
    event,
    status,
    conclusion,
    workflow_id: workflow,
    url,
    html_url: `${WEB}/${repo.owner}/${repo.name}/actions/runs/${id}`,
    pull_requests: requests.map((request) => wireRequestOfRun(repoUrl(context, repo), sha, request)),
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    head_commit: null,
    repository,
    head_repository: repository,
  };
}

function wireRequestOfRun(url: string, sha: string, number: number): Record<string, unknown> {
  const repo = { id: 1, url, name: 'widgets' };
  return {
    id: number,
    number,
    url: `${url}/pulls/${number}`,
    head: { ref: 'main', sha, repo },
    base: { ref: 'main', sha: 'b'.repeat(40), repo },
  };
}
