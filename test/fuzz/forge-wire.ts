import type { CiProvider } from '../../src/ports/ci.ts';
import type { ScmAdapter } from '../../src/ports/scm.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import { makeAnswers, ORIGIN, TOKEN } from './answers.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { useRemote } from './remote.ts';
import type { Target } from './target.ts';

const PROVIDERS = await loadProviders();

const AT = '2026-01-01T00:00:00Z';
const SHA = 'a'.repeat(40);
const USER = { login: 'ann', username: 'ann', id: 5, name: 'Ann', type: 'User', bot: false };
const REPO = { id: 1, full_name: 'acme/shop', name: 'shop', owner: USER, default_branch: 'main', permissions: { push: true } };

/** What forges tell of a request, its reviews and its checks, in one record: each adapter takes what it knows. */
const RECORD = {
  id: 9,
  iid: 7,
  number: 7,
  name: 'build',
  title: 'Fix it',
  body: 'Please change this.',
  state: 'open',
  status: 'completed',
  conclusion: 'failure',
  description: 'It broke.',
  context: 'ci/build',
  draft: false,
  merged: false,
  mergeable: true,
  mergeable_state: 'clean',
  merge_status: 'can_be_merged',
  detailed_merge_status: 'mergeable',
  has_conflicts: false,
  head: { ref: 'foray/A-1', sha: SHA, label: 'acme:foray/A-1', repo: REPO, repo_id: 1 },
  base: { ref: 'main', sha: SHA, repo: REPO, repo_id: 1 },
  source_branch: 'foray/A-1',
  target_branch: 'main',
  source_project_id: 1,
  target_project_id: 1,
  sha: SHA,
  commit_id: SHA,
  head_sha: SHA,
  merge_commit_sha: null,
  labels: [{ id: 1, name: 'Bug' }],
  label: { id: 1, name: 'Bug' },
  user: USER,
  author: USER,
  actor: USER,
  author_association: 'MEMBER',
  official: true,
  stale: false,
  dismissed: false,
  requested_reviewers: [USER],
  reviewers: [USER],
  approved: true,
  approved_by: [{ user: USER }],
  approvals_left: 0,
  approvals_required: 1,
  event: 'labeled',
  action: 'add',
  path: 'src/a.ts',
  line: 3,
  start_line: 1,
  position: { new_path: 'src/a.ts', new_line: 3, line_range: { start: { new_line: 1 }, end: { new_line: 3 } } },
  notes: [{ id: 4, body: 'No.', author: USER, resolvable: true, resolved: false, created_at: AT, system: false }],
  individual_note: false,
  submitted_at: AT,
  created_at: AT,
  updated_at: AT,
  completed_at: AT,
  html_url: 'https://forge.test/7',
  web_url: 'https://forge.test/7',
  details_url: 'https://forge.test/7',
  target_url: 'https://forge.test/7',
  head_pipeline: { id: 3, sha: SHA, status: 'failed' },
  stage: 'test',
  allow_failure: false,
  failure_reason: 'script_failure',
};

/** The same wrapped as lists and queries have it. */
const WRAPPED = {
  ...RECORD,
  check_runs: [RECORD],
  workflow_runs: [RECORD],
  jobs: [RECORD],
  statuses: [RECORD],
  total_count: 1,
  data: {
    viewer: { login: 'foray-bot' },
    repository: {
      pullRequest: {
        reviewDecision: 'APPROVED',
        isInMergeQueue: false,
        reviews: {
          nodes: [{ id: 'r', state: 'APPROVED', author: USER, authorAssociation: 'MEMBER', submittedAt: AT, body: '' }],
        },
        reviewThreads: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
        timelineItems: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
      },
    },
  },
};

/** As remotes send them. */
const ANSWERS: readonly unknown[] = [
  RECORD,
  [RECORD],
  [RECORD, { ...RECORD, id: 10, state: 'APPROVED' }],
  { check_runs: [RECORD], total_count: 1 },
  { workflow_runs: [RECORD], jobs: [RECORD], total_count: 1 },
  { state: 'failure', statuses: [RECORD], total_count: 1 },
  { data: WRAPPED.data },
];
/** So often all of them in one, which every read finds something in. */
const ALL_IN_ONE = 0.03;

const REQUEST = { owner: 'acme', repo: 'shop', number: 7 };

/** The whole way from answers of a forge to what is known of a merge request and its checks, and what is done with it. */
export function forgeTargets(): readonly Target[] {
  return PROVIDERS.flatMap(({ kind, createScm, createCi }): Target[] => {
    if (!createScm || !createCi) return [];
    const connection = { kind, name: kind, apiKey: TOKEN, endpoint: ORIGIN, project: 'acme/shop', userAgent: '' };
    return [
      {
        name: `merge requests and checks of ${kind}`,
        make: (chance) =>
          makeAnswers(chance, () => {
            const answer = chance.happens(ALL_IN_ONE) ? WRAPPED : chance.pick(ANSWERS);
            const text = JSON.stringify(mutateJson(answer, chance, 0.05));
            return chance.happens(0.1) ? mutateText(text, chance) : text;
          }),
        take: (input, thorough) =>
          useRemote(input, thorough, ({ deps, signal }) =>
            readsOf(createScm(connection, deps), createCi(connection, deps), signal).map(
              (read) => async () => check(await read()),
            ),
          ),
      },
    ];
  });
}

type Read = () => Promise<Readonly<Record<string, unknown>>>;

const ORDER = { strategy: 'squash', expectedSha: SHA } as const;

function readsOf(scm: ScmAdapter, ci: CiProvider, signal: AbortSignal): readonly Read[] {
  return [
    async () => ({ decision: await scm.readReviewDecision(REQUEST, 'collaborators', signal) }),
    async () => ({ ...(await scm.readMergeStatus(REQUEST, signal)) }),
    async () => ({ conclusion: await scm.readCiStatus(REQUEST, signal) }),
    async () => commentFields(await scm.readPendingReviews(REQUEST, 'anyone', signal)),
    async () => commentFields(await scm.readBotReviewComments(REQUEST, ['ann'], signal)),
    async () => ({ labels: (await scm.readLabelEvents(REQUEST, signal)).map(({ label }) => label) }),
    async () => ({ url: await scm.readOwnAccount(signal) }),
    async () => ({ baseBranch: await scm.readDefaultBranch(REQUEST, signal) }),
    async () => ({ draft: await scm.isQueued(REQUEST, signal) }),
    async () => ({ url: (await scm.readBranchHead(REQUEST, 'main', signal)) ?? '' }),
    async () => ({ draft: await scm.enqueue(REQUEST, ORDER, signal) }),
    async () => ({ ...(await scm.merge(REQUEST, ORDER, signal)) }),
    async () => (await scm.deleteBranch(REQUEST, 'foray/A-1', signal), {}),
    async () => (await scm.removeLabel(REQUEST, 'bug', signal), {}),
    async () => ({ scope: (await scm.checkMergeScope(REQUEST, signal)).mayMerge }),
    async () => {
      const { status, failingCount, logExcerpt: url } = await ci.readCi({ ...REQUEST, ref: SHA, maxLogLines: 5 }, signal);
      return { status, failingCount, url };
    },
  ];
}

function commentFields(comments: Awaited<ReturnType<ScmAdapter['readPendingReviews']>>): Readonly<Record<string, unknown>> {
  return { labels: comments.flatMap(({ id, file, reviewer, body, submittedAt }) => [id, file, reviewer, body, submittedAt]) };
}

/** What each field may hold, whatever the remote sent. */
const HOLDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  decision: oneOf('APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED', 'NOT_REQUIRED'),
  mergeability: oneOf('clean', 'dirty', 'unknown', 'blocked', 'unstable'),
  conclusion: oneOf('success', 'failing', 'failing-unseen', 'pending', ''),
  status: oneOf('success', 'failing', 'pending'),
  scope: oneOf('yes', 'no', 'unknown'),
  failingCount: (value) => Number.isSafeInteger(value),
  labels: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  ...Object.fromEntries(['draft', 'merged', 'closed', 'fork'].map((name) => [name, (value) => typeof value === 'boolean'])),
  ...Object.fromEntries(
    ['headSha', 'headBranch', 'baseBranch', 'projectId', 'mergeCommitSha', 'url'].map((name) => [
      name,
      (value) => typeof value === 'string',
    ]),
  ),
};

function oneOf(...words: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && words.includes(value);
}

function check(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields))
    if (HOLDS[name]?.(value) !== true) throw new TypeError(`${name} is ${JSON.stringify(value)}`);
}
