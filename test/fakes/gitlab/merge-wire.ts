import { labelEntity, userEntity } from './wire.ts';
import type {
  FakeJob,
  FakeLabelEvent,
  FakeMergeRequest,
  FakePipeline,
  FakePosition,
  FakeReviewNote,
  MergeWorld,
} from './merge-store.ts';
import { statusOf } from './merge-store.ts';

const AT = '2026-03-01T08:00:00.000Z';

/** As a list shows it: without the head pipeline. */
export function mergeRequestEntity(origin: string, { base }: MergeWorld, request: FakeMergeRequest) {
  const { iid } = request;
  const { project } = base;
  return {
    id: 70_000 + iid,
    iid,
    project_id: project.id,
    title: request.draft ? `Draft: ${request.title}` : request.title,
    description: null,
    state: request.state,
    created_at: AT,
    updated_at: AT,
    merged_at: request.state === 'merged' ? AT : null,
    target_branch: request.targetBranch,
    source_branch: request.sourceBranch,
    author: userEntity(origin, request.author),
    assignees: [],
    // The state in here is that of the account, not that of the review.
    reviewers: request.reviewers.map(({ username }) => userEntity(origin, username)),
    source_project_id: request.sourceProjectId,
    target_project_id: project.id,
    labels: [...request.labels].sort(),
    draft: request.draft,
    work_in_progress: request.draft,
    merge_when_pipeline_succeeds: false,
    merge_status: statusOf(request) === 'mergeable' ? 'can_be_merged' : 'cannot_be_merged',
    detailed_merge_status: statusOf(request),
    sha: request.sha,
    merge_commit_sha: request.mergeCommitSha,
    squash_commit_sha: request.squashCommitSha,
    squash: request.squash,
    should_remove_source_branch: null,
    web_url: `${origin}/${project.path}/-/merge_requests/${iid}`,
    references: { short: `!${iid}`, relative: `!${iid}`, full: `${project.path}!${iid}` },
    has_conflicts: request.conflicting,
    blocking_discussions_resolved: true,
  };
}

export function mergeRequestDetail(origin: string, world: MergeWorld, request: FakeMergeRequest) {
  const pipeline = request.headPipeline && pipelineEntity(origin, world, request.headPipeline);
  return {
    ...mergeRequestEntity(origin, world, request),
    subscribed: false,
    changes_count: '1',
    pipeline,
    head_pipeline: pipeline,
    diff_refs: { base_sha: request.sha, head_sha: request.sha, start_sha: request.sha },
    merge_error: null,
    user: { can_merge: true },
  };
}

export function pipelineEntity(origin: string, { base }: MergeWorld, { id, sha, ref, source, status }: FakePipeline) {
  return {
    id,
    iid: id - 5000,
    project_id: base.project.id,
    sha,
    ref,
    status,
    source,
    created_at: AT,
    updated_at: AT,
    web_url: `${origin}/${base.project.path}/-/pipelines/${id}`,
  };
}

/** The place of a request on the merge train. */
export function trainCarEntity(origin: string, world: MergeWorld, request: FakeMergeRequest) {
  const { id, iid, project_id, title, description, state, created_at, updated_at, web_url } = mergeRequestEntity(
    origin,
    world,
    request,
  );
  return {
    id: 1,
    merge_request: { id, iid, project_id, title, description, state, created_at, updated_at, web_url },
    user: userEntity(origin, 'foray-bot'),
    pipeline: request.headPipeline && pipelineEntity(origin, world, request.headPipeline),
    created_at: AT,
    updated_at: AT,
    target_branch: request.targetBranch,
    status: 'fresh',
    merged_at: null,
    duration: null,
  };
}

/** Two of the fields are computed for the caller. */
export function approvalsEntity(origin: string, request: FakeMergeRequest) {
  return {
    user_has_approved: false,
    user_can_approve: false,
    approved: request.approvedBy.length > 0,
    approved_by: request.approvedBy.map((name) => ({ user: userEntity(origin, name) })),
  };
}

export function reviewerEntity(origin: string, { username, state }: FakeMergeRequest['reviewers'][number]) {
  return { user: userEntity(origin, username), state, created_at: AT };
}

export function reviewNoteEntity(origin: string, { iid }: FakeMergeRequest, note: FakeReviewNote) {
  const isOnDiff = note.position !== null;
  return {
    id: note.id,
    type: isOnDiff ? 'DiffNote' : null,
    body: note.body,
    author: userEntity(origin, note.author),
    created_at: note.createdAt,
    updated_at: note.createdAt,
    system: note.system,
    noteable_id: 70_000 + iid,
    noteable_type: 'MergeRequest',
    noteable_iid: iid,
    resolvable: isOnDiff,
    ...(isOnDiff && { resolved: note.resolved, position: positionEntity(note.position!) }),
    confidential: false,
    internal: false,
    commands_changes: {},
  };
}

function positionEntity({ path, headSha, newLine, oldLine, startLine }: FakePosition) {
  const line = (from: number) => ({ line_code: `x_${from}_${from}`, type: 'new', old_line: null, new_line: from });
  return {
    base_sha: headSha,
    start_sha: headSha,
    head_sha: headSha,
    old_path: path,
    new_path: path,
    position_type: 'text',
    old_line: oldLine,
    new_line: newLine,
    line_range: startLine === null || newLine === null ? null : { start: line(startLine), end: line(newLine) },
  };
}

export function labelEventEntity(origin: string, { iid }: FakeMergeRequest, event: FakeLabelEvent) {
  return {
    id: event.id,
    user: userEntity(origin, event.actor),
    created_at: event.createdAt,
    resource_type: 'MergeRequest',
    resource_id: 70_000 + iid,
    label: event.label === null ? null : labelEntity({ name: event.label, isProjectLabel: true }, 1),
    action: event.action,
  };
}

export function commitStatusEntity(origin: string, { base }: MergeWorld, pipeline: FakePipeline, job: FakeJob) {
  return {
    id: job.id,
    sha: pipeline.sha,
    ref: pipeline.ref,
    status: job.status,
    name: job.name,
    target_url: `${origin}/${base.project.path}/-/jobs/${job.id}`,
    description: null,
    created_at: AT,
    started_at: AT,
    finished_at: null,
    allow_failure: job.allowFailure,
    coverage: null,
    pipeline_id: pipeline.id,
    author: userEntity(origin, 'ada'),
  };
}

export function branchEntity(
  origin: string,
  { base, protectedBranches }: MergeWorld,
  { name, id }: { name: string; id: string },
) {
  const isProtected = protectedBranches.has(name);
  return {
    name,
    commit: { id, short_id: id.slice(0, 8), title: 'A commit', parent_ids: [] },
    merged: false,
    protected: isProtected,
    developers_can_push: false,
    developers_can_merge: false,
    can_push: !isProtected,
    default: name === 'main',
    web_url: `${origin}/${base.project.path}/-/tree/${name}`,
  };
}
