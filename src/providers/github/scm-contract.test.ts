import { ciContract, type CiHarness, type SeedCheck } from '../../../test/contracts/ci.ts';
import { scmContract, type ForgePeople, type ScmHarness } from '../../../test/contracts/scm.ts';
import { type FakeGithub, startFakeGithub } from '../../../test/fakes/github.ts';
import { rolesWith } from '../../../test/fakes/github/connect-scm.ts';

const repo = { owner: 'acme', repo: 'widgets' };
const STEP = { name: 'Tests', conclusion: 'failure', started: '2026-01-01T10:00:00Z', completed: '2026-01-01T10:00:09Z' };
const RESULTS = {
  green: { status: 'completed', conclusion: 'success' },
  red: { status: 'completed', conclusion: 'failure' },
  running: { status: 'in_progress', conclusion: null },
} as const;

scmContract('GitHub', async (): Promise<ScmHarness> => {
  const fake = await startFakeGithub();
  return {
    scm: rolesWith({ endpoint: fake.url }).scm,
    repo,
    accounts: { own: 'foray-bot', reviewer: 'rita', bot: 'lint-bot' },
    defaultBranch: 'main',
    people: peopleOf(fake),
    requests: () => fake.requests.length,
    cleanUp: () => fake.close(),
  };
});

ciContract('GitHub', async (): Promise<CiHarness> => {
  const fake = await startFakeGithub();
  return {
    ci: rolesWith({ endpoint: fake.url }).ci,
    repo,
    seed: async (branch, checks) => {
      const { headSha } = fake.pulls.add({ headRef: branch });
      for (const check of checks) addCheck(fake, headSha, check);
      return headSha;
    },
    cleanUp: () => fake.close(),
  };
});

function addCheck({ pulls }: FakeGithub, sha: string, { name, result, log }: SeedCheck): void {
  if (log === undefined) pulls.checkRun(sha, { name, ...RESULTS[result] });
  else pulls.job({ sha, name, steps: [STEP], log: log.replaceAll(/^/gm, '2026-01-01T10:00:05.0000000Z ') });
}

function peopleOf({ pulls, issue }: FakeGithub): ForgePeople {
  let pushes = 0;
  return {
    open: async ({ branch, draft = false, labels = [], reviewAsked = false }) => {
      const requestedReviewers = reviewAsked ? ['rita'] : [];
      const mergeableState = draft ? 'draft' : 'clean';
      const pull = pulls.add({ headRef: branch, draft, mergeableState, requestedReviewers, issue: { labels: [...labels] } });
      return pull.issue.number;
    },
    push: async (number) => {
      pushes += 1;
      pulls.push(number, String(pushes).padStart(40, 'd'));
      return pulls.get(number).headSha;
    },
    headOf: async (number) => pulls.get(number).headSha,
    requestChanges: async (number, { whole, line, file }) =>
      void pulls.review(number, { author: 'rita', body: whole, comments: [{ body: line, path: file }] }),
    approve: async (number) => void pulls.review(number, { author: 'rita', state: 'APPROVED' }),
    botReview: async (number, body) => void pulls.review(number, { author: 'lint-bot', state: 'COMMENTED', body }),
    check: async (number, name, result) => {
      const { runs } = pulls.checksOf(pulls.get(number).headSha);
      const known = runs.find((run) => run.name === name);
      if (known) Object.assign(known, RESULTS[result]);
      else pulls.checkRun(pulls.get(number).headSha, { name, ...RESULTS[result] });
    },
    label: async (number, name) => pulls.label(number, name, 'rita'),
    unlabel: async (number, name) => pulls.unlabel(number, name, 'rita'),
    labelsOf: async (number) => issue(number).labels,
    merge: async (number) => pulls.merge(number, 'rita'),
    close: async (number) => void (issue(number).state = 'closed'),
    branches: async () => [...pulls.branches.keys()],
  };
}
