import { ciContract, type CiHarness } from '../../../test/contracts/ci.ts';
import { scmContract, type ForgePeople, type ScmHarness } from '../../../test/contracts/scm.ts';
import { type FakeGitea, startFakeGitea } from '../../../test/fakes/gitea.ts';
import { openScm } from '../../../test/fakes/gitea/connect-scm.ts';

const repo = { owner: 'acme', repo: 'app' };
const STATUSES = { green: 'success', red: 'failure', running: 'pending' } as const;

scmContract('Gitea', async (): Promise<ScmHarness> => {
  const fake = await startFakeGitea();
  return {
    scm: openScm(fake).scm,
    repo,
    accounts: { own: 'foray-bot', reviewer: 'rita', bot: 'lint-bot' },
    defaultBranch: 'main',
    people: peopleOf(fake),
    requests: () => fake.requests.length,
    cleanUp: () => fake.close(),
  };
});

ciContract('Gitea', async (): Promise<CiHarness> => {
  const fake = await startFakeGitea();
  return {
    ci: openScm(fake).ci,
    repo,
    seed: async (branch, checks) => {
      const { headSha } = fake.pull(fake.addPull({ branch }));
      for (const { name, result, log } of checks) {
        fake.status(headSha, { context: name, status: STATUSES[result], description: log });
      }
      return headSha;
    },
    cleanUp: () => fake.close(),
  };
});

function peopleOf(fake: FakeGitea): ForgePeople {
  let pushes = 0;
  const headOf = async (number: number) => fake.pull(number).headSha;
  return {
    open: async ({ branch, draft = false, labels = [], reviewAsked = false }) => {
      for (const name of labels) fake.addLabel(name);
      return fake.addPull({ branch, draft, labels: [...labels], requestedReviewers: reviewAsked ? ['rita'] : [] });
    },
    push: async (number) => {
      pushes += 1;
      fake.push(number, String(pushes).padStart(40, 'd'));
      return headOf(number);
    },
    headOf,
    requestChanges: async (number, { whole, line, file }) =>
      void fake.review(number, {
        author: 'rita',
        state: 'REQUEST_CHANGES',
        body: whole,
        comments: [{ body: line, path: file }],
      }),
    approve: async (number) => void fake.review(number, { author: 'rita', state: 'APPROVED' }),
    botReview: async (number, body) => void fake.review(number, { author: 'lint-bot', body }),
    check: async (number, name, result) => fake.status(await headOf(number), { context: name, status: STATUSES[result] }),
    label: async (number, name) => {
      fake.addLabel(name);
      fake.editIssue(number, { labels: [...fake.issue(number).labels, name] });
    },
    unlabel: async (number, name) =>
      fake.editIssue(number, { labels: fake.issue(number).labels.filter((label) => label !== name) }),
    labelsOf: async (number) => fake.issue(number).labels,
    merge: async (number) => fake.mergePull(number),
    close: async (number) => fake.editIssue(number, { state: 'closed' }),
    branches: async () => fake.branches(),
  };
}
