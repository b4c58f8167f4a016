import type { RecordedRequest, Reply, RouteHandler } from '../../support/http-server.ts';
import { empty, json, text } from '../../support/http-server.ts';
import { answers, page } from './answer.ts';
import { branchEntity, commitStatusEntity, pipelineEntity } from './merge-wire.ts';
import type { MergeContext } from './merge-routes.ts';
import type { MergeWorld } from './merge-store.ts';

/** The routes of commits, branches and job logs. */
export function pipelineRoutes(
  context: MergeContext,
  inProject: (handle: RouteHandler) => RouteHandler,
): Readonly<Record<string, RouteHandler>> {
  const project = '/api/v4/projects/:project';
  return {
    [`GET ${project}/repository/commits/:ref`]: inProject((_, { ref = '' }) => showCommit(context, ref)),
    [`GET ${project}/repository/commits/:sha/statuses`]: inProject((request, { sha = '' }) =>
      listStatuses(context, request, sha),
    ),
    [`GET ${project}/repository/branches/:branch`]: inProject((_, { branch = '' }) => showBranch(context, branch)),
    [`DELETE ${project}/repository/branches/:branch`]: inProject((_, { branch = '' }) => deleteBranch(context, branch)),
    [`GET ${project}/jobs/:id/trace`]: inProject((_, { id }) => showTrace(context, Number(id))),
  };
}

/** By branch, by full name or by the beginning of one. */
function resolve({ branches, pipelines, requests }: MergeWorld, ref: string): string | undefined {
  const commits = [...branches.values(), ...pipelines.map(({ sha }) => sha), ...[...requests.values()].map(({ sha }) => sha)];
  return branches.get(ref) ?? (ref.length >= 7 ? commits.find((sha) => sha.startsWith(ref.toLowerCase())) : undefined);
}

function showCommit({ merges, origin }: MergeContext, ref: string): Reply {
  const id = resolve(merges, ref);
  if (id === undefined) return json({ message: '404 Commit Not Found' }, 404);
  const last = merges.pipelines.findLast(({ sha }) => sha === id);
  const pipeline = last ? pipelineEntity(origin(), merges, last) : null;
  return json({ id, short_id: id.slice(0, 8), title: 'A commit', parent_ids: [], status: last?.status, last_pipeline: pipeline });
}

// Known commits only by their full name: of an abbreviated one the list is empty. Jobs that were retried are left out.
function listStatuses({ merges, origin, maxPerPage }: MergeContext, request: RecordedRequest, sha: string): Reply {
  if (resolve(merges, sha) === undefined) return json({ message: '404 Commit Not Found' }, 404);
  const { query } = request;
  const wanted = query.get('pipeline_id');
  const found = merges.pipelines
    .filter((pipeline) => pipeline.sha === sha && (wanted === null || String(pipeline.id) === wanted))
    .flatMap((pipeline) => pipeline.jobs.map((job) => ({ pipeline, job })))
    .filter(({ job }) => query.get('all') === 'true' || !job.retried);
  return page(request, found, {
    maxPerPage,
    show: ({ pipeline, job }) => commitStatusEntity(origin(), merges, pipeline, job),
  });
}

function showBranch({ merges, origin }: MergeContext, branch: string): Reply {
  const id = merges.branches.get(branch);
  return id === undefined ? branchMiss() : json(branchEntity(origin(), merges, { name: branch, id }));
}

function deleteBranch({ merges }: MergeContext, branch: string): Reply {
  if (merges.protectedBranches.has(branch)) return answers.forbidden();
  return merges.branches.delete(branch) ? empty(204) : branchMiss();
}

function branchMiss(): Reply {
  return json({ message: '404 Branch Not Found' }, 404);
}

// The whole log, whatever range is asked for.
function showTrace({ merges }: MergeContext, id: number): Reply {
  const job = merges.pipelines.flatMap(({ jobs }) => jobs).find((one) => one.id === id);
  if (!job || job.trace === null) return answers.resourceMiss();
  return text(job.trace, 200, { 'content-type': 'text/plain' });
}
