import type { World } from './store.ts';
import { ensureLabel, tick } from './store.ts';

/** What the fake instance keeps beside the issues: merge requests, their pipelines, branches and users. */
export interface MergeWorld {
  readonly base: World;
  readonly requests: Map<number, FakeMergeRequest>;
  readonly pipelines: FakePipeline[];
  /** Branch name to its commit. */
  readonly branches: Map<string, string>;
  /** Into these the caller may not merge, and they cannot be deleted. */
  readonly protectedBranches: Set<string>;
  /** Access level by user name; whoever is missing is a stranger. */
  readonly members: Map<string, number>;
  hasTrains: boolean;
  /** True for a bot. */
  readonly users: Map<string, boolean>;
  lastIid: number;
  lastId: number;
}

export interface FakeMergeRequest {
  readonly iid: number;
  title: string;
  state: 'opened' | 'closed' | 'locked' | 'merged';
  draft: boolean;
  conflicting: boolean;
  /** Instead of what would be derived. */
  detailedMergeStatus: string | null;
  /** So many reads still find the merge status being computed, as they do after a push. */
  settling: number;
  /** Null once a fork was deleted. */
  sourceProjectId: number | null;
  /** Whether it waits on the merge train. */
  onTrain: boolean;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  sha: string;
  labels: string[];
  readonly author: string;
  reviewers: FakeReviewer[];
  approvedBy: string[];
  notes: FakeReviewNote[];
  labelEvents: FakeLabelEvent[];
  headPipeline: FakePipeline | null;
  squash: boolean;
  mergeCommitSha: string | null;
  squashCommitSha: string | null;
}

export interface FakeReviewer {
  readonly username: string;
  readonly state: string;
}

export interface FakeReviewNote {
  readonly id: number;
  readonly body: string;
  readonly author: string;
  readonly system: boolean;
  readonly resolved: boolean;
  readonly createdAt: string;
  /** On the diff when set. */
  readonly position: FakePosition | null;
}

export interface FakePosition {
  readonly path: string;
  readonly headSha: string;
  readonly newLine: number | null;
  readonly oldLine: number | null;
  readonly startLine: number | null;
}

export interface FakeLabelEvent {
  readonly id: number;
  readonly action: 'add' | 'remove';
  /** Null once the label was deleted. */
  label: string | null;
  readonly actor: string;
  readonly createdAt: string;
}

export interface FakePipeline {
  readonly id: number;
  readonly sha: string;
  readonly ref: string;
  readonly source: string;
  status: string;
  readonly jobs: FakeJob[];
}

export interface FakeJob {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly allowFailure: boolean;
  /** A newer one of the same name took its place. */
  readonly retried: boolean;
  /** Null for what another system reported: it has no log. */
  readonly trace: string | null;
}

export type MergeRequestFields = Partial<Omit<FakeMergeRequest, 'headPipeline'>>;

export function createMergeWorld(base: World): MergeWorld {
  return {
    base,
    requests: new Map(),
    pipelines: [],
    branches: new Map([['main', commitName('main')]]),
    protectedBranches: new Set(),
    users: new Map(),
    members: new Map(),
    hasTrains: false,
    lastIid: 0,
    lastId: 5000,
  };
}

/** A commit's full name, the same for the same words in every run. */
export function commitName(words: string): string {
  const digits = [...words].map((char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return `${digits}${'0'.repeat(40)}`.slice(0, 40);
}

export function nextId(world: MergeWorld): number {
  world.lastId += 1;
  return world.lastId;
}

export function createMergeRequest(world: MergeWorld, fields: MergeRequestFields = {}): FakeMergeRequest {
  const iid = fields.iid ?? world.lastIid + 1;
  world.lastIid = Math.max(world.lastIid, iid);
  const sourceBranch = fields.sourceBranch ?? `feature/${iid}`;
  const request: FakeMergeRequest = {
    title: `Change ${iid}`,
    sourceProjectId: world.base.project.id,
    onTrain: false,
    state: 'opened',
    draft: false,
    conflicting: false,
    detailedMergeStatus: null,
    settling: 0,
    targetBranch: 'main',
    sha: commitName(`head ${iid}`),
    labels: [],
    author: 'ada',
    reviewers: [],
    approvedBy: [],
    notes: [],
    labelEvents: [],
    headPipeline: null,
    squash: false,
    mergeCommitSha: null,
    squashCommitSha: null,
    ...fields,
    iid,
    sourceBranch,
  };
  world.requests.set(iid, request);
  world.branches.set(sourceBranch, request.sha);
  for (const label of request.labels) ensureLabel(world.base, label);
  for (const name of [request.author, ...request.reviewers.map(({ username }) => username)]) meet(world, name);
  return request;
}

/** An account that is mentioned exists. */
export function meet(world: MergeWorld, username: string, bot = world.users.get(username) ?? false): void {
  world.users.set(username, bot);
}

/** Moves the head. No pipeline comes of it: the request keeps the one it had, as the vendor does. */
export function pushTo(world: MergeWorld, request: FakeMergeRequest, sha: string): void {
  request.sha = sha;
  request.settling = 1;
  world.branches.set(request.sourceBranch, sha);
}

export function addReviewNote(
  world: MergeWorld,
  request: FakeMergeRequest,
  fields: Partial<Omit<FakeReviewNote, 'id' | 'position'>> & { readonly position?: Partial<FakePosition> | null } = {},
): FakeReviewNote {
  const { position = null, ...rest } = fields;
  const place = { path: 'src/rocket.ts', headSha: request.sha, newLine: 1, oldLine: null, startLine: null };
  const note: FakeReviewNote = {
    body: 'Please change this.',
    author: 'ada',
    system: false,
    resolved: false,
    createdAt: tick(world.base),
    ...rest,
    position: position && { ...place, ...position },
    id: nextId(world),
  };
  meet(world, note.author);
  request.notes.push(note);
  return note;
}

/** Every change of the labels is an entry of the journal. Removing a label that is not there is none. */
export function changeLabels(
  world: MergeWorld,
  request: FakeMergeRequest,
  { add = [], remove = [], actor = 'ada' }: { add?: readonly string[]; remove?: readonly string[]; actor?: string },
): void {
  const record = (action: FakeLabelEvent['action'], label: string): void => {
    request.labelEvents.push({ id: nextId(world), action, label, actor, createdAt: tick(world.base) });
  };
  for (const label of add.filter((name) => !request.labels.includes(name))) {
    ensureLabel(world.base, label);
    request.labels.push(label);
    record('add', label);
  }
  for (const label of remove.filter((name) => request.labels.includes(name))) {
    request.labels = request.labels.filter((name) => name !== label);
    record('remove', label);
  }
}

export type PipelineFields = Partial<Omit<FakePipeline, 'id' | 'jobs'>> & { readonly jobs?: readonly Partial<FakeJob>[] };

/** Becomes the head pipeline of the request when one is given. */
export function addPipeline(world: MergeWorld, fields: PipelineFields, request?: FakeMergeRequest): FakePipeline {
  const pipeline: FakePipeline = {
    sha: request?.sha ?? commitName('main'),
    ref: request ? `refs/merge-requests/${request.iid}/head` : 'main',
    source: request ? 'merge_request_event' : 'push',
    status: 'success',
    ...fields,
    jobs: [],
    id: nextId(world),
  };
  for (const job of fields.jobs ?? []) pipeline.jobs.push(createJob(world, job));
  world.pipelines.push(pipeline);
  if (request) request.headPipeline = pipeline;
  return pipeline;
}

function createJob(world: MergeWorld, fields: Partial<FakeJob>): FakeJob {
  const id = nextId(world);
  return { name: `job-${id}`, status: 'success', allowFailure: false, retried: false, trace: '', ...fields, id };
}

export function statusOf(request: FakeMergeRequest): string {
  if (request.detailedMergeStatus !== null) return request.detailedMergeStatus;
  if (request.state !== 'opened') return 'not_open';
  if (request.settling > 0) return 'checking';
  if (request.draft) return 'draft_status';
  return request.conflicting ? 'conflict' : 'mergeable';
}
