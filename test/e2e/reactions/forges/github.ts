import { startFakeGithub } from '../../../fakes/github.ts';
import { json } from '../../../support/http-server.ts';
import type { ForgeHands } from '../forge.ts';

const LABELS = ['backlog', 'in-progress', 'human-review', 'done', 'foray:fix', 'needs-human'];
const PROJECT = 'acme/widgets';

export async function repoissuesForge(): Promise<ForgeHands> {
  const limits = { core: 1_000_000, search: 1_000_000, graphql: 1_000_000 };
  const fake = await startFakeGithub({ project: PROJECT, labels: LABELS, limits });
  const { pulls } = fake;
  const gone = new Set<number>();
  const shown = (number: number) => {
    const { headRef, headSha, baseRef } = pulls.get(number);
    return { number, head: { ref: headRef, sha: headSha, repo: { id: 1 } }, base: { ref: baseRef, repo: { id: 1 } } };
  };
  return {
    kind: 'repoissues',
    url: fake.url,
    token: fake.token,
    project: PROJECT,
    script: { name: 'github-open-merge-request.sh', token: 'github-token', example: 'github.WORKFLOW.md' },
    states: 'active_states: [backlog, in-progress]\nterminal_states: [done]\nhandoff_state: human-review',
    handoff: 'human-review',
    addIssue: (title) => String(fake.addIssue({ title, labels: ['backlog'] }).number),
    issueOf(id) {
      const { state, labels, comments } = fake.issue(id);
      return { state, labels, comments: comments.map(({ body }) => body) };
    },
    // A protected base: blocked until a review approves.
    open: ({ title, branch, sha }) =>
      pulls.add({ issue: { title }, headRef: branch, headSha: sha, requiresReviews: true, mergeableState: 'blocked' }).issue
        .number,
    push: (number, sha) => pulls.push(number, sha),
    settle: (number) => void (pulls.get(number).unsettledReads = 0),
    ci(number, result, log = '') {
      const { headSha: sha } = pulls.get(number);
      if (result === 'red') pulls.job({ sha, name: 'unit', log });
      else pulls.checkRun(sha, { name: 'unit' });
    },
    requestChanges: (number, body) => void pulls.review(number, { author: 'rita', state: 'CHANGES_REQUESTED', body }),
    botReview: (number, author, body) => void pulls.review(number, { author, state: 'COMMENTED', body }),
    conflict: (number, exists) =>
      void Object.assign(pulls.get(number), { mergeable: !exists, mergeableState: exists ? 'dirty' : 'blocked' }),
    destabilize: (number) => void (pulls.get(number).mergeableState = 'unstable'),
    hinder: (number, exists) => void (pulls.get(number).mergeableState = exists ? 'blocked' : 'clean'),
    approve(number) {
      pulls.review(number, { author: 'rita', state: 'APPROVED' });
      pulls.get(number).mergeableState = 'clean';
    },
    queue: {
      open: (number) => void (pulls.get(number).hasQueue = true),
      holds: (number) => pulls.get(number).queuedSha !== null,
    },
    mergeByHand: (number) => pulls.merge(number, 'rita'),
    strangerObjects: (number, body) =>
      void pulls.review(number, { author: 'stranger', association: 'NONE', state: 'CHANGES_REQUESTED', body }),
    colleagueApproves(number) {
      pulls.review(number, { author: 'rita', state: 'APPROVED' });
      pulls.get(number).mergeableState = 'clean';
    },
    ownApproves(number) {
      pulls.review(number, { author: 'foray-bot', state: 'APPROVED' });
      pulls.get(number).mergeableState = 'clean';
    },
    ownReview: (number, body) => void pulls.review(number, { author: 'foray-bot', state: 'COMMENTED', body }),
    fork: (number) => void (pulls.get(number).source = 'fork'),
    retarget: (number, branch) => void (pulls.get(number).baseRef = branch),
    askAnother: (number) => void pulls.get(number).requestedReviewers.push('sam'),
    appReview: (number, body) =>
      void pulls.review(number, { author: 'scanner[bot]', association: 'NONE', state: 'COMMENTED', body }),
    label(number, name, actor = 'rita') {
      pulls.label(number, name, actor);
      Object.assign(pulls.get(number).issue.events.at(-1) ?? {}, { createdAt: thisSecond() });
    },
    labelsOf: (number) => pulls.get(number).issue.labels,
    remove: (number) => void gone.add(number),
    request: (number) => ({ merged: pulls.get(number).merged, sha: pulls.get(number).headSha }),
    branches: () => [...pulls.branches.keys()],
    routes: (state) => ({
      'GET /repos/:owner/:repo/pulls': (request) => {
        if (!state.isAllowed(request)) return json({ message: 'Bad credentials' }, 401);
        const number = state.opened.get((request.query.get('head') ?? '').replace(/^acme:/, ''));
        return json(number === undefined ? [] : [shown(number)]);
      },
      'POST /repos/:owner/:repo/pulls': (request) => {
        if (!state.isAllowed(request)) return json({ message: 'Bad credentials' }, 401);
        const { head: branch = '', title = '' } = request.json() as Record<string, string>;
        const isRefused = !state.heads.has(branch) || state.opened.has(branch);
        if (isRefused) return json({ message: 'Validation Failed', errors: [{ resource: 'PullRequest', field: 'head' }] }, 422);
        return json(shown(state.open({ title, branch })), 201);
      },
      'GET /repos/:owner/:repo/pulls/:number': (_, { number }) =>
        gone.has(Number(number)) ? json({ message: 'Not Found' }, 404) : undefined,
    }),
    is: {
      status: ({ method, path }) => method === 'GET' && /\/pulls\/\d+$/.test(path),
      lookup: ({ method, path }) => method === 'GET' && path.endsWith('/issues/1'),
      ci: ({ path }) => /\/commits\/[^/]+\/(check-runs|status)$/.test(path),
      reviews: ({ path }) => /\/pulls\/\d+\/reviews$/.test(path),
      merge: ({ method, path }) => method === 'PUT' && path.endsWith('/merge'),
      branchDeletion: ({ method, path }) => method === 'DELETE' && path.includes('/git/refs/'),
      completion: ({ method, path, body }) => method === 'PATCH' && /\/issues\/\d+$/.test(path) && body.includes('closed'),
      comment: ({ method, path }) => method === 'POST' && /\/issues\/\d+\/comments$/.test(path),
      issue: ({ path }) => /\/issues\/1(\/labels(\/[^/]+)?)?$/.test(path),
      expectedHead: (request) => (request.json() as { sha?: unknown }).sha,
    },
    close: () => fake.close(),
  };
}

/** As the forge tells time. */
function thisSecond(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
