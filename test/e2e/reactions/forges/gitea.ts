import { startFakeGitea } from '../../../fakes/gitea.ts';
import { json } from '../../../support/http-server.ts';
import type { ForgeHands } from '../forge.ts';

const LABELS = ['backlog', 'in-progress', 'human-review', 'done'];

export async function selfhostedForge(): Promise<ForgeHands> {
  const fake = await startFakeGitea({ labels: [...LABELS, 'foray:fix', 'needs-human'] });
  const gone = new Set<number>();
  const shown = (number: number) => {
    const { headBranch, headSha, baseBranch } = fake.pull(number);
    return { number, head: { ref: headBranch, sha: headSha, repo_id: 1 }, base: { ref: baseBranch, repo_id: 1 } };
  };
  return {
    kind: 'selfhosted',
    url: fake.url,
    token: fake.token,
    project: fake.project,
    script: { name: 'gitea-open-merge-request.sh', token: 'gitea-token', example: 'gitea.WORKFLOW.md' },
    states: 'active_states: [backlog, in-progress]\nterminal_states: [done]\nhandoff_state: human-review',
    handoff: 'human-review',
    addIssue: (title) => String(fake.addIssue({ title, labels: ['backlog'] })),
    issueOf: (id) => fake.issue(Number(id)),
    open: ({ title, branch, sha }) => fake.addPull({ title, branch, sha, requestedReviewers: ['rita'] }),
    push: (number, sha) => fake.push(number, sha),
    settle: () => undefined,
    ci: (number, result, log = '') =>
      fake.status(fake.pull(number).headSha, {
        context: 'unit',
        status: result === 'red' ? 'failure' : 'success',
        description: log,
      }),
    requestChanges: (number, body) => void fake.review(number, { author: 'rita', state: 'REQUEST_CHANGES', body }),
    botReview: (number, author, body) => void fake.review(number, { author, state: 'COMMENT', body }),
    conflict: null,
    destabilize: null,
    hinder: (number, exists) => void (fake.pull(number).draft = exists),
    approve: (number) => void fake.review(number, { author: 'rita', state: 'APPROVED' }),
    queue: null,
    mergeByHand: (number) => fake.mergePull(number),
    strangerObjects: (number, body) =>
      void fake.review(number, { author: 'stranger', state: 'REQUEST_CHANGES', body, official: false }),
    colleagueApproves: (number) => void fake.review(number, { author: 'rita', state: 'APPROVED' }),
    ownApproves: (number) => void fake.review(number, { author: 'foray-bot', state: 'APPROVED' }),
    ownReview: (number, body) => void fake.review(number, { author: 'foray-bot', state: 'COMMENT', body }),
    fork: (number) => void (fake.pull(number).headRepoId = 666),
    retarget: (number, branch) => void Object.assign(fake.pull(number), { baseBranch: branch }),
    askAnother(number) {
      const pull = fake.pull(number);
      pull.requestedReviewers = [...pull.requestedReviewers, 'sam'];
    },
    appReview: null,
    label(number, name, actor = 'rita') {
      fake.editIssue(number, { labels: [name] });
      Object.assign(fake.issue(number).timeline.at(-1) ?? {}, { createdAt: thisSecond(), author: actor });
    },
    labelsOf: (number) => fake.issue(number).labels,
    remove: (number) => void gone.add(number),
    request: (number) => ({ merged: fake.pull(number).merged !== null, sha: fake.pull(number).headSha }),
    branches: () => fake.branches(),
    routes: (state) => ({
      'GET /api/v1/repos/:owner/:repo/pulls': (request) => {
        if (!state.isAllowed(request)) return json({ message: 'invalid username, password or token' }, 401);
        return json(request.query.get('page') === '1' ? [...state.opened.values()].map(shown) : []);
      },
      'POST /api/v1/repos/:owner/:repo/pulls': (request) => {
        if (!state.isAllowed(request)) return json({ message: 'invalid username, password or token' }, 401);
        const { head: branch = '', title = '' } = request.json() as Record<string, string>;
        if (!state.heads.has(branch)) return json({ message: 'The target couldn’t be found.' }, 404);
        if (state.opened.has(branch)) return json({ message: 'pull request already exists for these targets' }, 409);
        return json(shown(state.open({ title, branch })), 201);
      },
      'GET /api/v1/repos/:owner/:repo/pulls/:index': (_, { index }) =>
        gone.has(Number(index)) ? json({ message: 'Not Found' }, 404) : undefined,
    }),
    is: {
      status: ({ method, path }) => method === 'GET' && /\/pulls\/\d+$/.test(path),
      lookup: ({ method, path }) => method === 'GET' && path.endsWith('/issues/1'),
      ci: ({ path }) => /\/commits\/[^/]+\/status$/.test(path),
      reviews: ({ path }) => path.endsWith('/reviews'),
      merge: ({ method, path }) => method === 'POST' && path.endsWith('/merge'),
      branchDeletion: ({ method, path }) => method === 'DELETE' && path.includes('/branches/'),
      completion: ({ method, path, body }) => method === 'PATCH' && /\/issues\/\d+$/.test(path) && body.includes('closed'),
      comment: ({ method, path }) => method === 'POST' && /\/issues\/\d+\/comments$/.test(path),
      issue: ({ path }) => /\/issues\/1(\/labels(\/\d+)?)?$/.test(path),
      expectedHead: (request) => (request.json() as { head_commit_id?: unknown }).head_commit_id,
    },
    close: () => fake.close(),
  };
}

/** As the forge tells time. */
function thisSecond(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
