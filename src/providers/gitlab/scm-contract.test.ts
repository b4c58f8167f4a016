import { ciContract, type CiHarness } from '../../../test/contracts/ci.ts';
import { scmContract, type ForgePeople, type ScmHarness } from '../../../test/contracts/scm.ts';
import { type FakeGitlab, startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import { openScmSubject } from '../../../test/fakes/gitlab/connect-scm.ts';

const repo = { owner: 'acme/tools', repo: 'rocket' };
const JOBS = { green: 'success', red: 'failed', running: 'running' } as const;

scmContract('GitLab', async (): Promise<ScmHarness> => {
  const fake = await startFakeGitlab();
  return {
    scm: openScmSubject(fake).scm,
    repo,
    accounts: { own: 'foray-bot', reviewer: 'rita', bot: 'lint-bot' },
    defaultBranch: 'main',
    people: peopleOf(fake),
    requests: () => fake.requests.length,
    cleanUp: () => fake.close(),
  };
});

ciContract('GitLab', async (): Promise<CiHarness> => {
  const fake = await startFakeGitlab();
  return {
    ci: openScmSubject(fake).ci,
    repo,
    seed: async (branch, checks) => {
      const { iid, sha } = fake.merges.add({ sourceBranch: branch });
      const jobs = checks.map(({ name, result, log = '' }) => ({ name, status: JOBS[result], trace: log }));
      if (jobs.length > 0) fake.merges.pipeline({ status: 'running', jobs }, iid);
      return sha;
    },
    cleanUp: () => fake.close(),
  };
});

function peopleOf({ merges }: FakeGitlab): ForgePeople {
  let pushes = 0;
  return {
    open: async ({ branch, draft = false, labels = [], reviewAsked = false }) => {
      const reviewers = reviewAsked ? [{ username: 'rita', state: 'unreviewed' }] : [];
      merges.user('lint-bot');
      return merges.add({ sourceBranch: branch, draft, labels: [...labels], reviewers }).iid;
    },
    push: async (number) => {
      pushes += 1;
      merges.push(number, String(pushes).padStart(40, 'd'));
      return merges.get(number).sha;
    },
    headOf: async (number) => merges.get(number).sha,
    requestChanges: async (number, { whole, line, file }) => {
      merges.get(number).reviewers = [{ username: 'rita', state: 'requested_changes' }];
      merges.note(number, { author: 'rita', body: whole });
      merges.note(number, { author: 'rita', body: line, position: { path: file } });
    },
    approve: async (number) => {
      Object.assign(merges.get(number), { reviewers: [{ username: 'rita', state: 'approved' }], approvedBy: ['rita'] });
    },
    botReview: async (number, body) => void merges.note(number, { author: 'lint-bot', body }),
    check: async (number, name, result) => {
      const known = merges.get(number).headPipeline?.jobs ?? [];
      const jobs = [...known.filter((job) => job.name !== name), { name, status: JOBS[result] }];
      merges.pipeline({ status: JOBS[result], jobs }, number);
    },
    label: async (number, name) => merges.label(number, { add: [name], actor: 'rita' }),
    unlabel: async (number, name) => merges.label(number, { remove: [name], actor: 'rita' }),
    labelsOf: async (number) => merges.get(number).labels,
    merge: async (number) => void (merges.get(number).state = 'merged'),
    close: async (number) => void (merges.get(number).state = 'closed'),
    branches: async () => merges.branchNames(),
  };
}
