import { afterAll, beforeAll, describe } from 'vitest';
import { ciContract } from '../../contracts/ci.ts';
import { scmContract, type ForgePeople } from '../../contracts/scm.ts';
import type { Ground } from './ground.ts';
import { giteaFromEnvironment, must, prepareGround } from './ground.ts';
import { openRepository, openRoles, type Repository } from './repository.ts';

const server = giteaFromEnvironment();
const STATES = { green: 'success', red: 'failure', running: 'pending' } as const;

// The same suites that every adapter passes against its fake remote.
describe.skipIf(server === null)('document 3: the contracts on a real server', () => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await prepareGround(server!);
  });
  afterAll(async () => ground?.cleanup());

  scmContract('a real server', async () => {
    const repository = openRepository(ground, await ground.addRepo());
    return {
      scm: openRoles(ground).scm,
      repo: repository.key,
      accounts: { own: ground.bot.login, reviewer: ground.reviewer.login, bot: ground.linter.login },
      defaultBranch: 'main',
      people: peopleOf(ground, repository),
      cleanUp: () => Promise.resolve(),
    };
  });

  ciContract('a real server', async () => {
    const repository = openRepository(ground, await ground.addRepo());
    const missing = await ground.call('GET', repository.at('/commits/no-such-branch/status'));
    return {
      ci: openRoles(ground).ci,
      repo: repository.key,
      // Forgejo answers 200 with nothing in it.
      tellsMissingRefs: missing.status === 404,
      seed: async (branch, checks) => {
        const { head } = await repository.pull(await repository.openPull({ branch }));
        for (const { name, result, log = '' } of checks) {
          await repository.status(head.sha, { context: name, state: STATES[result], description: log });
        }
        return head.sha;
      },
      cleanUp: () => Promise.resolve(),
    };
  });
});

function peopleOf({ call, reviewer, linter }: Ground, repository: Repository): ForgePeople {
  const { at } = repository;
  const headOf = async (number: number) => (await repository.pull(number)).head.sha;
  let pushes = 0;
  return {
    open: async ({ branch, draft, labels = [], reviewAsked = false }) => {
      const number = await repository.openPull({ branch, draft });
      if (labels.length > 0) await repository.setLabels(number, labels);
      const asked = { reviewers: [reviewer.login] };
      if (reviewAsked) await must(call, 'POST', at(`/pulls/${String(number)}/requested_reviewers`), asked);
      return number;
    },
    push: async (number) => {
      pushes += 1;
      const { head } = await repository.pull(number);
      await repository.push(head.ref, `push ${String(pushes)}\n`);
      // The request follows its branch a moment later.
      for (;;) {
        const now = await headOf(number);
        if (now !== head.sha) return now;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    headOf,
    requestChanges: async (number, { whole, line, file }) =>
      void (await repository.review(number, reviewer, {
        event: 'REQUEST_CHANGES',
        body: whole,
        comments: [{ path: file, body: line, new_position: 1 }],
      })),
    approve: async (number) => void (await repository.review(number, reviewer, { event: 'APPROVED', body: 'fine' })),
    botReview: async (number, body) => void (await repository.review(number, linter, { event: 'COMMENT', body })),
    check: async (number, name, result) => repository.status(await headOf(number), { context: name, state: STATES[result] }),
    label: async (number, name) => repository.setLabels(number, [...(await repository.labelsOf(number)), name], reviewer),
    unlabel: async (number, name) => {
      const others = (await repository.labelsOf(number)).filter((label) => label !== name);
      await repository.setLabels(number, others, reviewer);
    },
    labelsOf: (number) => repository.labelsOf(number),
    merge: async (number) => void (await must(call, 'POST', at(`/pulls/${String(number)}/merge`), { Do: 'merge' })),
    close: async (number) => void (await must(call, 'PATCH', at(`/pulls/${String(number)}`), { state: 'closed' })),
    branches: () => repository.branches(),
  };
}
