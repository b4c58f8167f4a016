import type { CiConclusion } from '../../ports/scm.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import { readPipelineStatuses, toCheckRun, unrecognizedStatuses } from './commit-status.ts';
import type { GitlabForge, RequestContext } from './scm-routes.ts';
import { factsOf, readMergeRequest, refuseUnsendable } from './scm-routes.ts';
import { trackerError } from './routes.ts';
import { sameSha } from './scm-map.ts';
import type { WireMergeRequest, WirePipeline } from './scm-schema.ts';

/** What the pipeline as a whole says. `manual` is missing: there the jobs decide. */
export const PIPELINE_CONCLUSIONS: ReadonlyMap<string, CiConclusion> = new Map([
  ['success', 'success'],
  ['skipped', 'success'],
  ['failed', 'failing'],
  ['created', 'pending'],
  ['waiting_for_resource', 'pending'],
  ['preparing', 'pending'],
  ['waiting_for_callback', 'pending'],
  ['pending', 'pending'],
  ['running', 'pending'],
  ['canceling', 'pending'],
  ['canceled', 'pending'],
  ['scheduled', 'pending'],
]);

/** What the merge request alone says of its CI, before anything else is read. */
export type HeadReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'settled'; readonly conclusion: CiConclusion }
  | { readonly kind: 'unrecognized'; readonly status: string }
  | { readonly kind: 'jobs'; readonly sha: string; readonly pipelineId: number }
  | { readonly kind: 'broken'; readonly fault: string };

/**
 * The remote keeps the pipeline of an older commit when a push made none, and may still call the request mergeable. So the
 * pipeline counts only if it ran for the head, or for the head merged into its target.
 */
export function readHead({ sha, head_pipeline: pipeline }: WireMergeRequest, number: number): HeadReading {
  if (!pipeline) return { kind: 'none' };
  const isManual = pipeline.status === 'manual';
  if (isManual && !pipeline.sha) return { kind: 'broken', fault: 'the manual head pipeline has no commit of its own' };
  if (!sameSha(pipeline.sha ?? '', sha ?? '') && !isForMergedResult(pipeline, number)) return { kind: 'superseded' };
  if (isManual) return readManual(pipeline);
  const status = pipeline.status ?? '';
  const conclusion = PIPELINE_CONCLUSIONS.get(status);
  return conclusion === undefined ? { kind: 'unrecognized', status } : { kind: 'settled', conclusion };
}

// Such a pipeline runs on a commit the remote made of the head and the target, so its commit is never the head.
function isForMergedResult({ source, ref }: WirePipeline, number: number): boolean {
  const own = [`refs/merge-requests/${number}/merge`, `refs/merge-requests/${number}/train`];
  return source === 'merge_request_event' && own.includes(ref ?? '');
}

function readManual({ id, sha }: WirePipeline): HeadReading {
  if (!id || !sha) return { kind: 'broken', fault: 'the manual head pipeline has no id' };
  return { kind: 'jobs', sha, pipelineId: id };
}

/** The CI conclusion for the merge gate. */
export async function readHeadPipeline(forge: GitlabForge, context: RequestContext, signal: AbortSignal): Promise<CiConclusion> {
  const request = await readMergeRequest(context, signal);
  const reading = readHead(request, context.number);
  switch (reading.kind) {
    case 'none':
      return '';
    case 'settled':
      return reading.conclusion;
    case 'superseded':
      forge.warnOnce('head pipeline is of another commit, CI is held at pending', {
        ...factsOf(context),
        head_sha: request.sha ?? '',
        pipeline_sha: request.head_pipeline?.sha ?? '',
        pipeline_id: request.head_pipeline?.id,
      });
      return 'pending';
    case 'unrecognized':
      forge.warnOnce('head pipeline has an unrecognized status, CI is held at pending', {
        ...factsOf(context),
        status: reading.status,
      });
      return 'pending';
    case 'broken':
      throw trackerError(context, {
        kind: 'tracker_payload_error',
        method: 'GET',
        path: context.requestRoute,
        detail: reading.fault,
      });
    case 'jobs':
      return foldJobs(forge, context, reading, signal);
  }
}

/** A manual pipeline waits for a person, which says nothing of its other jobs. */
async function foldJobs(
  forge: GitlabForge,
  context: RequestContext,
  { sha, pipelineId }: { sha: string; pipelineId: number },
  signal: AbortSignal,
): Promise<CiConclusion> {
  refuseUnsendable(context, sha, { method: 'GET', what: 'a commit' });
  const entries = await readPipelineStatuses(context, { sha, pipelineId }, signal);
  const facts = { ...factsOf(context), pipeline_id: pipelineId };
  for (const [status, count] of unrecognizedStatuses(entries)) {
    forge.warnOnce('job has an unrecognized status, it counts as in progress', { ...facts, status, count });
  }
  if (entries.length === 0) forge.warnOnce('manual head pipeline shows no jobs, CI is held at pending', facts);
  const { status } = aggregate(entries.map(toCheckRun));
  return status === 'failing' ? 'failing-unseen' : status;
}
