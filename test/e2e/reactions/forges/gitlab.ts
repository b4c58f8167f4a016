import { startFakeGitlab } from '../../../fakes/gitlab.ts';
import { json } from '../../../support/http-server.ts';
import type { ForgeHands } from '../forge.ts';

const LABELS = ['backlog', 'in-progress', 'human-review', 'done'];

export async function nsprojectForge(): Promise<ForgeHands> {
  const fake = await startFakeGitlab({ labels: LABELS });
  fake.merges.member('ada', 30);
  const { merges } = fake;
  let labelEvents = 0;
  const shown = (number: number) => {
    const { iid, sourceBranch, targetBranch, sha } = merges.get(number);
    return { iid, source_branch: sourceBranch, target_branch: targetBranch, source_project_id: 1, target_project_id: 1, sha };
  };
  return {
    kind: 'nsproject',
    url: fake.url,
    token: fake.token,
    project: fake.project.path,
    script: { name: 'gitlab-open-merge-request.sh', token: 'gitlab-token', example: 'gitlab.WORKFLOW.md' },
    states: 'active_states: [backlog, in-progress]\nterminal_states: [done]\nhandoff_state: human-review',
    handoff: 'human-review',
    addIssue: (title) => String(fake.addIssue({ title, labels: ['backlog'] }).iid),
    issueOf(id) {
      const { state, labels, notes } = fake.issue(Number(id));
      return { state, labels, comments: notes.filter(({ system }) => !system).map(({ body }) => body) };
    },
    open: ({ title, branch, sha }) =>
      merges.add({ title, sourceBranch: branch, sha, reviewers: [{ username: 'rita', state: 'unreviewed' }] }).iid,
    push: (number, sha) => merges.push(number, sha),
    settle: (number) => void (merges.get(number).settling = 0),
    ci: (number, result, trace = '') =>
      void (result === 'red'
        ? merges.pipeline({ status: 'failed', jobs: [{ name: 'unit', status: 'failed', trace }] }, number)
        : merges.pipeline({ status: 'success', jobs: [{ name: 'unit' }] }, number)),
    requestChanges(number, body) {
      merges.get(number).reviewers = [{ username: 'rita', state: 'requested_changes' }];
      merges.note(number, { author: 'rita', body });
    },
    botReview: (number, author, body) => void merges.note(number, { author, body }),
    conflict: (number, exists) => void (merges.get(number).conflicting = exists),
    destabilize: null,
    hinder: (number, exists) => void (merges.get(number).conflicting = exists),
    approve(number) {
      Object.assign(merges.get(number), { reviewers: [{ username: 'rita', state: 'approved' }], approvedBy: ['rita'] });
    },
    queue: { open: () => merges.trains(), holds: (number) => merges.get(number).onTrain },
    mergeByHand: (number) => void (merges.get(number).state = 'merged'),
    strangerObjects(number, body) {
      merges.get(number).reviewers = [{ username: 'stranger', state: 'requested_changes' }];
      merges.note(number, { author: 'stranger', body });
    },
    colleagueApproves(number) {
      merges.member('rita', 30);
      merges.get(number).approvedBy = ['stranger', 'rita'];
    },
    ownApproves: (number) => void (merges.get(number).approvedBy = ['foray-bot']),
    ownReview(number, body) {
      merges.user('foray-bot', { bot: true });
      merges.note(number, { author: 'foray-bot', body });
    },
    fork: (number) => void (merges.get(number).sourceProjectId = 666),
    retarget: (number, branch) => void Object.assign(merges.get(number), { targetBranch: branch }),
    askAnother: (number) => void merges.get(number).reviewers.push({ username: 'sam', state: 'unreviewed' }),
    appReview(number, body) {
      merges.user('scanner', { bot: true });
      merges.note(number, { author: 'scanner', body });
    },
    label(number, name, actor = 'rita') {
      merges.get(number).labels.push(name);
      const createdAt = new Date().toISOString();
      labelEvents += 1;
      merges.labelEvent(number, { id: labelEvents, action: 'add', label: name, actor, createdAt });
    },
    labelsOf: (number) => merges.get(number).labels,
    remove: (number) => merges.remove(number),
    request: (number) => ({ merged: merges.get(number).state === 'merged', sha: merges.get(number).sha }),
    branches: () => merges.branchNames(),
    routes: (state) => ({
      'GET /api/v4/projects/:project/merge_requests': (request) => {
        if (!state.isAllowed(request)) return json({ message: '401 Unauthorized' }, 401);
        const number = state.opened.get(request.query.get('source_branch') ?? '');
        return json(number === undefined ? [] : [shown(number)]);
      },
      'POST /api/v4/projects/:project/merge_requests': (request) => {
        if (!state.isAllowed(request)) return json({ message: '401 Unauthorized' }, 401);
        const { source_branch: branch = '', title = '' } = request.json() as Record<string, string>;
        if (!state.heads.has(branch)) return json({ message: { source_branch: ['does not exist'] } }, 400);
        const other = state.opened.get(branch);
        if (other) return json({ message: [`Another open merge request already exists for this source branch: !${other}`] }, 409);
        return json(shown(state.open({ title, branch })), 201);
      },
    }),
    is: {
      status: ({ method, path }) => method === 'GET' && /\/merge_requests\/\d+$/.test(path),
      lookup: ({ path, query }) => path.endsWith('/issues') && query.has('iids[]'),
      ci: ({ path }) => /\/repository\/commits\/[^/]+(\/statuses)?$/.test(path),
      reviews: ({ path }) => /\/merge_requests\/\d+\/(reviewers|notes|approvals)$/.test(path),
      merge: ({ method, path }) => method === 'PUT' && path.endsWith('/merge'),
      branchDeletion: ({ method, path }) => method === 'DELETE' && path.includes('/repository/branches/'),
      completion: ({ method, path, body }) => method === 'PUT' && /\/issues\/\d+$/.test(path) && body.includes('close'),
      comment: ({ method, path }) => method === 'POST' && /\/issues\/\d+\/notes$/.test(path),
      issue: ({ path }) => /\/issues(\/\d+)?$/.test(path),
      expectedHead: (request) => (request.json() as { sha?: unknown }).sha,
    },
    close: () => fake.close(),
  };
}
