import type { FakeIssue, FakeRepo, NewIssue, Store } from './store.ts';

/** A pull request beside the issue of the same number. Everything may be changed at any time. */
export interface FakePull {
  readonly issue: FakeIssue;
  /** Where the branch is: a fork may have been deleted since. */
  source: 'own' | 'fork' | 'deleted fork';
  hasQueue: boolean;
  /** The head that waits in the merge queue. */
  queuedSha: string | null;
  headRef: string;
  headSha: string;
  baseRef: string;
  draft: boolean;
  mergeable: boolean | null;
  mergeableState: string;
  /** So many reads find it still being worked out. */
  unsettledReads: number;
  merged: boolean;
  mergedAt: string | null;
  mergedBy: string | null;
  mergeCommitSha: string | null;
  requestedReviewers: string[];
  requestedTeams: string[];
  /** False: the base branch asks for none, and the remote decides nothing. */
  requiresReviews: boolean;
  /** What is said instead of the decision that follows from the reviews. */
  decision: string | null;
  reviews: FakeReview[];
  comments: FakeReviewComment[];
}

export interface FakeReview {
  readonly id: number;
  author: string | null;
  association: string;
  state: string;
  body: string;
  /** Missing while it is only drafted. */
  submittedAt: string | null;
}

export interface FakeReviewComment {
  readonly id: number;
  readonly reviewId: number;
  readonly author: string | null;
  readonly body: string;
  readonly association: string;
  resolved: boolean;
  readonly path: string;
  line: number | null;
  startLine: number | null;
  readonly originalLine: number | null;
  readonly originalStartLine: number | null;
  position: number | null;
  readonly subjectType: 'line' | 'file';
  readonly createdAt: string;
}

export interface FakeCheckRun {
  readonly id: number;
  readonly name: string;
  status: string;
  conclusion: string | null;
  readonly app: string;
  /** The run of a workflow that it is a job of, where it is one. The remote makes a suite for each. */
  readonly workflowRun: FakeWorkflowRun;
  readonly output: { readonly title: string | null; readonly summary: string | null; readonly text: string | null };
}

export interface FakeWorkflowRun {
  readonly suite: number;
  readonly workflow: number;
  readonly number: number;
  readonly event: string;
  /** The requests with that head; the first one where nothing else is said. */
  readonly requests?: readonly number[];
}

export interface FakeStatus {
  readonly id: number;
  readonly context: string;
  readonly state: string;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly createdAt: string;
}

export interface FakeStep {
  readonly name: string;
  readonly conclusion: string;
  readonly started: string;
  readonly completed: string;
}

export interface FakeJob {
  readonly id: number;
  readonly name: string;
  readonly conclusion: string;
  readonly steps: readonly FakeStep[];
  readonly log: string;
}

export type NewPull = Partial<Omit<FakePull, 'issue' | 'reviews' | 'comments'>> & { issue?: NewIssue };
type NewReview = Partial<Omit<FakeReview, 'id'>> & { id?: number; comments?: readonly Partial<FakeReviewComment>[] };
type NewJob = Partial<Omit<FakeJob, 'id'>> & { sha: string };

/** The merge-request side of the fake remote. All of it is of the main repository. */
export interface PullStore {
  readonly branches: Map<string, string>;
  readonly protectedBranches: Set<string>;
  /** Merge methods that the repository allows. */
  readonly mergeMethods: Set<string>;
  add(parts?: NewPull): FakePull;
  /** The live record; throws when there is none. */
  get(number: number): FakePull;
  find(repo: FakeRepo, number: number): FakePull | undefined;
  all(repo: FakeRepo): readonly FakePull[];
  push(number: number, sha: string): void;
  review(number: number, parts?: NewReview): FakeReview;
  merge(number: number, by: string): void;
  label(number: number, name: string, actor?: string): void;
  unlabel(number: number, name: string, actor?: string): void;
  checkRun(sha: string, parts?: Partial<FakeCheckRun>): FakeCheckRun;
  status(sha: string, parts?: Partial<FakeStatus>): FakeStatus;
  /** A job of the remote's own CI, and its check run, which has the same number. */
  job(parts: NewJob): FakeJob;
  findJob(id: number): FakeJob | undefined;
  checksOf(sha: string): { readonly runs: FakeCheckRun[]; readonly statuses: FakeStatus[] };
  /** The commit of a branch or a known commit. */
  resolve(ref: string): string | undefined;
}

const FIRST_RUN: FakeWorkflowRun = { suite: 1, workflow: 1, number: 1, event: 'pull_request' };

export function createPullStore(store: Store): PullStore {
  const pulls = new Map<number, FakePull>();
  const jobs = new Map<number, FakeJob>();
  const checks = new Map<string, { runs: FakeCheckRun[]; statuses: FakeStatus[] }>();
  const branches = new Map([['main', 'b'.repeat(40)]]);

  const pullStore: PullStore = {
    branches,
    protectedBranches: new Set(['main']),
    mergeMethods: new Set(['merge', 'squash', 'rebase']),
    add: ({ issue: issueParts = {}, ...parts } = {}) => {
      const issue = store.addIssue({ body: 'Text', ...issueParts, pullRequest: true });
      const pull = { ...newPull(issue), ...parts };
      pulls.set(issue.number, pull);
      branches.set(pull.headRef, pull.headSha);
      return pull;
    },
    get: (number) => {
      const found = pulls.get(number);
      if (!found) throw new Error(`the fake has no pull request ${number}`);
      return found;
    },
    find: (repo, number) => (repo === store.main ? pulls.get(number) : undefined),
    all: (repo) => (repo === store.main ? [...pulls.values()] : []),
    push: (number, sha) => {
      const pull = pullStore.get(number);
      Object.assign(pull, { headSha: sha, unsettledReads: 1 });
      branches.set(pull.headRef, sha);
      for (const comment of pull.comments) Object.assign(comment, { line: null, startLine: null, position: null });
      pull.issue.updatedAt = store.tick();
    },
    review: (number, { comments = [], ...parts } = {}) => {
      const pull = pullStore.get(number);
      const said = { author: 'rita', association: 'MEMBER', state: 'CHANGES_REQUESTED', body: '' };
      const blank = { id: store.nextId(), ...said, submittedAt: store.tick() };
      const review = { ...blank, ...parts };
      pull.reviews.push(review);
      for (const comment of comments) pull.comments.push(newComment(store, review, comment));
      pull.requestedReviewers = pull.requestedReviewers.filter((login) => login !== review.author);
      return review;
    },
    merge: (number, by) => {
      const pull = pullStore.get(number);
      const at = store.tick();
      Object.assign(pull, { merged: true, mergedAt: at, mergedBy: by, mergeCommitSha: `${number}`.padStart(40, 'e') });
      Object.assign(pull, { mergeable: null, mergeableState: 'unknown' });
      Object.assign(pull.issue, { state: 'closed', closedAt: at, updatedAt: at });
      store.addEvent(pull.issue, 'merged', { actor: by });
      store.addEvent(pull.issue, 'closed', { actor: by });
    },
    label: (number, name, actor) => store.label(store.main, pullStore.get(number).issue, name, actor),
    unlabel: (number, name, actor) => void store.unlabel(pullStore.get(number).issue, name, actor),
    checkRun: (sha, parts = {}) => {
      const output = { title: null, summary: null, text: null };
      const blank = {
        name: 'build',
        status: 'completed',
        conclusion: 'success',
        app: 'other-app',
        workflowRun: FIRST_RUN,
        output,
      };
      const run = { id: store.nextId(), ...blank, ...parts };
      pullStore.checksOf(sha).runs.push(run);
      return run;
    },
    status: (sha, parts = {}) => {
      const blank = { context: 'ci/legacy', state: 'success', description: null, targetUrl: null, createdAt: store.tick() };
      const status = { id: store.nextId(), ...blank, ...parts };
      // Only the last one of a context is told.
      const { statuses } = pullStore.checksOf(sha);
      const index = statuses.findIndex(({ context }) => context === status.context);
      statuses.splice(index === -1 ? statuses.length : index, 1, status);
      return status;
    },
    job: ({ sha, ...parts }) => {
      const job = { id: store.nextId(), name: 'test', conclusion: 'failure', steps: [], log: '', ...parts };
      jobs.set(job.id, job);
      pullStore.checkRun(sha, { id: job.id, name: job.name, conclusion: job.conclusion, app: 'github-actions' });
      return job;
    },
    findJob: (id) => jobs.get(id),
    checksOf: (sha) => {
      const known = checks.get(sha) ?? { runs: [], statuses: [] };
      checks.set(sha, known);
      return known;
    },
    resolve: (ref) =>
      branches.get(ref.replace(/^heads\//, '')) ?? ([...branches.values()].includes(ref) || checks.has(ref) ? ref : undefined),
  };
  return pullStore;
}

function newPull(issue: FakeIssue): FakePull {
  return {
    issue,
    source: 'own',
    hasQueue: false,
    queuedSha: null,
    headRef: `fix/${issue.number}`,
    headSha: `${issue.number}`.padStart(40, 'a'),
    baseRef: 'main',
    draft: false,
    mergeable: true,
    mergeableState: 'clean',
    unsettledReads: 0,
    merged: false,
    mergedAt: null,
    mergedBy: null,
    mergeCommitSha: null,
    requestedReviewers: [],
    requestedTeams: [],
    requiresReviews: false,
    decision: null,
    reviews: [],
    comments: [],
  };
}

function newComment(store: Store, review: FakeReview, parts: Partial<FakeReviewComment>): FakeReviewComment {
  const line = parts.line === undefined ? 3 : parts.line;
  return {
    id: store.nextId(),
    reviewId: review.id,
    author: review.author,
    body: 'Look here',
    association: review.association,
    resolved: false,
    path: 'src/a.ts',
    line,
    startLine: null,
    originalLine: line,
    originalStartLine: parts.startLine ?? null,
    position: line,
    subjectType: 'line',
    createdAt: store.tick(),
    ...parts,
  };
}
