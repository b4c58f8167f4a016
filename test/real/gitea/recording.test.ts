import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/daemon.ts';
import { answerOf, type RecordedAnswer, type Scene, stepsOf } from '../../recordings/gitea-steps.ts';
import type { Ground } from './ground.ts';
import { giteaFromEnvironment, MERGE_SCOPES, must, prepareGround, TRACKER_SCOPES } from './ground.ts';
import { FILE, openRepository, type Repository } from './repository.ts';

const server = process.env['GITEA_RECORD'] ? giteaFromEnvironment() : null;

describe.skipIf(server === null)('documents 2 to 3: the answers of the server', () => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await prepareGround(server!);
  });
  afterAll(async () => ground?.cleanup());

  it('are recorded for the tests that run without it', async () => {
    const repo = openRepository(ground, await ground.addRepo('app'));
    const scene = await prepareScene(ground, repo);
    const tokens = {
      own: await ground.bot.tokenWith([...MERGE_SCOPES, 'read:organization']),
      nobody: '0'.repeat(40),
      admin: await administrator(ground, repo),
      'tracker only': await ground.bot.tokenWith(TRACKER_SCOPES),
    };
    const answers: Record<string, RecordedAnswer> = {};
    for (const { name, method, route, body, as = 'own' } of stepsOf(scene)) {
      // A refusal for its head makes the server look once more whether it can be merged.
      if (name === 'merge') await settled(repo, scene.pull, true);
      const ask = async () =>
        answerOf(
          await fetch(`${ground.url}/api/v1${route}`, {
            method,
            headers: { authorization: `token ${tokens[as]}`, 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          }),
        );
      answers[name] = await eventually(ask, ({ status }) => !AFTER_A_LOOK.has(name) || status !== 405);
    }
    expect(answers['merge']?.status).toBe(200);
    const recording = JSON.stringify({ version: ground.version, answers }, null, 2);
    const neutral = recording.replaceAll(ground.org, 'acme').replaceAll(new URL(ground.url).host, 'forge.example');
    for (const token of Object.values(tokens)) expect(neutral).not.toContain(token);
    await writeFile(new URL(`../../recordings/${process.env['GITEA_RECORD']}.json`, import.meta.url), `${neutral}\n`);
  }, 120_000);
});

/** The server answers 405 to these while it looks whether they can be merged. */
const AFTER_A_LOOK = new Set(['merge stale head', 'merge']);

async function prepareScene(ground: Ground, repo: Repository): Promise<Scene> {
  const todo = await repo.addLabel('todo');
  const spareLabel = await repo.addLabel('spare');
  await must(ground.call, 'POST', `/orgs/${ground.org}/labels`, { name: 'shared', color: '#123456' });
  const issue = Number(await repo.addIssue({ title: 'recorded', labels: [todo] }));
  await must(ground.call, 'POST', repo.at(`/issues/${String(issue)}/comments`), { body: 'recorded' });
  for (const title of ['one', 'two']) {
    const index = Number(await repo.addIssue({ title }));
    await must(ground.call, 'POST', repo.at(`/issues/${String(issue)}/dependencies`), { owner: ground.org, repo: 'app', index });
  }
  const draft = await repo.openPull({ branch: 'draft', draft: true, file: 'draft.txt' });
  const pull = await repo.openPull({ branch: 'feature/one' });
  await repo.setLabels(pull, ['todo'], ground.reviewer);
  const comments = [{ path: FILE, body: 'this line', new_position: 1 }];
  const review = await repo.review(pull, ground.reviewer, { event: 'APPROVED', body: 'fine', comments });
  const { sha } = (await repo.pull(pull)).head;
  for (const context of ['build', 'lint']) await repo.status(sha, { state: 'success', context, description: 'done' });
  const conflicting = await conflictingPull(ground, repo);
  const file = { content: '', message: 'm', new_branch: 'unproposed', branch: 'main' };
  await must(ground.call, 'POST', repo.at('/contents/unproposed.txt'), file);
  await settled(repo, pull, true);
  await settled(repo, conflicting, false);
  const numbers = { issue, spareLabel, pull, review, draft, conflicting };
  const people = { self: ground.bot.login, writer: ground.reviewer.login };
  return {
    owner: ground.org,
    project: repo.project,
    ...people,
    ...numbers,
    sha,
    branch: 'feature/one',
    unproposed: 'unproposed',
  };
}

/** A token of one who administers the repository. */
async function administrator(ground: Ground, repo: Repository): Promise<string> {
  await must(ground.call, 'PUT', repo.at(`/collaborators/${ground.linter.login}`), { permission: 'admin' });
  return ground.linter.token;
}

/** A file that its branch and the base each add in their own way. */
async function conflictingPull(ground: Ground, repo: Repository): Promise<number> {
  const number = await repo.openPull({ branch: 'conflicting', file: 'c.txt' });
  const content = Buffer.from('otherwise\n').toString('base64');
  await must(ground.call, 'POST', repo.at('/contents/c.txt'), { content, message: 'c', branch: 'main' });
  return number;
}

// The server works it out a moment after each push.
function settled(repo: Repository, number: number, mergeable: boolean) {
  return eventually(
    () => repo.pull(number),
    (pull) => pull.mergeable === mergeable,
  );
}
