import { type Answer, type Call, NOT_FOUND, paged, refusal, type RouteTable, write } from './answer.ts';
import { wireWorkflowRun } from './actions-wire.ts';
import {
  wireCheckRun,
  wireEvent,
  wireJob,
  wireLineless,
  wireListedPull,
  wirePull,
  wireReview,
  wireReviewComment,
  wireStatus,
} from './pull-wire.ts';
import type { FakePull } from './pull-store.ts';
import { wireMinimalRepo } from './repo-wire.ts';
import { repoUrl } from './wire.ts';

interface PullCall extends Call {
  readonly pull: FakePull;
}

/** Pull requests, their checks and their branches, below a repository. */
export const PULL_ROUTES: RouteTable = {
  'GET /pulls': listPulls,
  'POST /pulls': write(openPull),
  'GET /pulls/:number': onPull((call) => ({ status: 200, body: wirePull(call, call.pull) })),
  'GET /pulls/:number/reviews': onPull((call) => paged(call, call.pull.reviews, (review) => wireReview(call, call.pull, review))),
  'GET /pulls/:number/comments': onPull((call) =>
    paged(call, call.pull.comments, (comment) => wireReviewComment(call, call.pull, comment)),
  ),
  'GET /pulls/:number/reviews/:review/comments': onPull((call) => {
    const own = call.pull.comments.filter(({ reviewId }) => String(reviewId) === call.params.review);
    return paged(call, own, (comment) => wireLineless(call, call.pull, comment));
  }),
  'PUT /pulls/:number/merge': onPull(write(merge)),
  'GET /issues/:number/events': (call) => {
    const issue = call.repo.issues.get(Number(call.params.number));
    return issue ? paged(call, issue.events, (event) => wireEvent(call, event)) : NOT_FOUND;
  },
  'GET /commits/:ref/check-runs': onCommit((call, sha) => {
    const { runs } = call.context.pulls.checksOf(sha);
    return paged(
      call,
      runs,
      (run) => wireCheckRun(call, sha, run),
      (entries) => ({ total_count: runs.length, check_runs: entries }),
    );
  }),
  'GET /commits/:ref/status': onCommit(combinedStatus),
  'GET /git/ref/heads/:branch': (call) => showRef(call, call.params.branch ?? ''),
  'DELETE /git/refs/:ref': write((call) => deleteRef(call, call.params.ref ?? '')),
  'DELETE /git/refs/heads/:branch': write((call) => deleteRef(call, `heads/${call.params.branch}`)),
  'GET /actions/runs': (call) => {
    const sha = call.request.query.get('head_sha') ?? '';
    const jobs = call.context.pulls.checksOf(sha).runs.filter(({ app }) => app === 'github-actions');
    const suites = [...new Set(jobs.map(({ workflowRun }) => workflowRun.suite))].map((suite) =>
      jobs.filter(({ workflowRun }) => workflowRun.suite === suite),
    );
    const show = (own: typeof jobs) => wireWorkflowRun(call, sha, own);
    return paged(call, suites, show, (entries) => ({ total_count: suites.length, workflow_runs: entries }));
  },
  'GET /actions/jobs/:job': (call) => {
    const job = call.context.pulls.findJob(Number(call.params.job));
    return job ? { status: 200, body: wireJob(call, job) } : NOT_FOUND;
  },
  'GET /actions/jobs/:job/logs': ({ context, params }) => {
    const job = context.pulls.findJob(Number(params.job));
    return job ? { status: 302, headers: { location: `${context.logStore}/logs/${job.id}?sig=secret%2Fsignature` } } : NOT_FOUND;
  },
};

// Entries of the list do not tell whether they can be merged.
function listPulls(call: Call): Answer {
  const state = call.request.query.get('state') ?? 'open';
  const head = call.request.query.get('head');
  const listed = call.context.pulls
    .all(call.repo)
    .filter(
      ({ issue, headRef }) => (state === 'all' || issue.state === state) && (!head || head === `${call.repo.owner}:${headRef}`),
    );
  return paged(call, listed, (pull) => wireListedPull(call, pull));
}

function openPull(call: Call): Answer {
  const { head = '', base = '', title = '', body = null } = JSON.parse(call.request.body) as Record<string, string>;
  const { pulls } = call.context;
  const headSha = pulls.branches.get(head);
  const refused = (field: string, code: string, message?: string) => ({
    status: 422,
    body: { message: 'Validation Failed', errors: [{ resource: 'PullRequest', field, code, message }], documentation_url: '' },
  });
  if (headSha === undefined) return refused('head', 'invalid');
  if (!pulls.branches.has(base)) return refused('base', 'invalid');
  if (pulls.all(call.repo).some(({ issue, headRef }) => issue.state === 'open' && headRef === head)) {
    return refused('', 'custom', `A pull request already exists for ${call.repo.owner}:${head}.`);
  }
  const pull = pulls.add({ issue: { title, body }, headRef: head, headSha, baseRef: base });
  return { status: 201, body: wirePull(call, pull) };
}

function onPull(handle: (call: PullCall) => Answer): (call: Call) => Answer {
  return (call) => {
    const pull = call.context.pulls.find(call.repo, Number(call.params.number));
    return pull ? handle({ ...call, pull }) : NOT_FOUND;
  };
}

function onCommit(handle: (call: Call, sha: string) => Answer): (call: Call) => Answer {
  return (call) => {
    const ref = call.params.ref ?? '';
    const sha = call.context.pulls.resolve(ref);
    return sha === undefined ? refusal(422, `No commit found for SHA: ${ref}`) : handle(call, sha);
  };
}

// The word at the top is pending also where there is nothing at all.
function combinedStatus(call: Call, sha: string): Answer {
  const { context, repo } = call;
  const { statuses } = context.pulls.checksOf(sha);
  const failed = statuses.some(({ state }) => state === 'failure' || state === 'error');
  const waits = statuses.length === 0 || statuses.some(({ state }) => state === 'pending');
  const commit = `${repoUrl(context, repo)}/commits/${sha}`;
  const top = { state: failed ? 'failure' : waits ? 'pending' : 'success', sha, total_count: statuses.length };
  return paged(
    call,
    statuses,
    (status) => wireStatus(call, sha, status),
    (entries) => ({
      ...top,
      statuses: entries,
      repository: wireMinimalRepo(context, repo),
      commit_url: commit,
      url: `${commit}/status`,
    }),
  );
}

const TOKEN_OWNER = 'token-owner';

function merge({ context, request, pull }: PullCall): Answer {
  const sent = request.body === '' ? {} : request.json();
  const { merge_method: method = 'merge', sha } = sent as { merge_method?: string; sha?: string };
  if (!['merge', 'squash', 'rebase'].includes(method))
    return refusal(422, 'Validation Failed', { errors: [`merge_method ${method}`] });
  // Whoever merged it may say so again; everybody else is told as little as possible.
  if (pull.merged) return pull.mergedBy === TOKEN_OWNER ? mergedAnswer(pull) : refusal(405, 'Pull Request is not mergeable');
  if (pull.issue.state === 'closed') return refusal(405, 'Pull Request is not mergeable');
  if (sha !== undefined && sha !== pull.headSha) return refusal(409, 'Head branch was modified. Review and try the merge again.');
  if (pull.draft) return refusal(405, 'Pull Request is still a draft');
  if (!context.pulls.mergeMethods.has(method)) return refusal(405, `${method} merges are not allowed on this repository.`);
  if (pull.mergeableState === 'blocked')
    return refusal(405, 'At least 1 approving review is required by reviewers with write access.');
  if (pull.mergeable !== true) return refusal(405, 'Pull Request is not mergeable');
  context.pulls.merge(pull.issue.number, TOKEN_OWNER);
  return mergedAnswer(pull);
}

function mergedAnswer({ mergeCommitSha }: FakePull): Answer {
  return { status: 200, body: { sha: mergeCommitSha, merged: true, message: 'Pull Request successfully merged' } };
}

function showRef({ context, repo }: Call, branch: string): Answer {
  const sha = context.pulls.branches.get(branch);
  if (sha === undefined) return refusal(404, 'Not Found');
  const place = `${context.api}/repos/${repo.owner}/${repo.name}/git`;
  const object = { type: 'commit', sha, url: `${place}/commits/${sha}` };
  const ref = `refs/heads/${branch}`;
  return { status: 200, body: { ref, node_id: `REF_${branch}`, url: `${place}/${ref}`, object } };
}

function deleteRef({ context }: Call, ref: string): Answer {
  const branch = ref.replace(/^heads\//, '');
  if (context.pulls.protectedBranches.has(branch)) return refusal(422, 'Cannot delete a protected branch');
  if (!context.pulls.branches.delete(branch)) return refusal(context.missingRefStatus, 'Reference does not exist');
  return { status: 204 };
}
