import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type FakeGitea, startFakeGitea } from '../../../test/fakes/gitea.ts';
import { answerOf, type RecordedAnswer, RECORDING, type Scene, stepsOf } from '../../../test/recordings/gitea-steps.ts';
import { COLLABORATION, COMMENT, ISSUE, LABEL, REPOSITORY, USER } from './schema.ts';
import { COMBINED_STATUS, LABEL_ENTRY, PULL, REVIEW, REVIEW_COMMENT } from './scm-schema.ts';

const { answers } = await recorded('gitea');
const forgejo = await recorded('forgejo');

async function recorded(server: 'gitea' | 'forgejo') {
  const file = new URL(`../../../test/recordings/${server}.json`, import.meta.url);
  return RECORDING.parse(JSON.parse(await readFile(file, 'utf8')));
}

describe('the fake answers as the real server was recorded to', () => {
  let fake: FakeGitea;
  const told = new Map<string, RecordedAnswer>();
  beforeAll(async () => {
    const trackerToken = 'f'.repeat(40);
    fake = await startFakeGitea({ labels: ['todo', 'spare'], organizationLabels: ['shared'], trackerToken });
    const tokens = { own: fake.token, nobody: 'wrong', 'tracker only': trackerToken, admin: fake.token };
    for (const { name, method, route, body, as = 'own' } of stepsOf(sceneOf(fake))) {
      fake.administrate(as === 'admin');
      const headers = { authorization: `token ${tokens[as]}`, 'content-type': 'application/json' };
      const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      told.set(name, await answerOf(await fetch(`${fake.url}/api/v1${route}`, sent)));
    }
  });
  afterAll(() => fake.close());

  it('has an answer to each', () => {
    expect([...told.keys()]).toEqual(Object.keys(answers));
  });

  it.each(Object.entries(answers))('%s: status, headers and fields', (name, recorded) => {
    const answer = told.get(name);
    expect([answer?.status, headersOf(answer)]).toEqual([recorded.status, headersOf(recorded)]);
    if (recorded.status >= 400) expect(messageOf(answer)).toBe(messageOf(recorded));
    else expect(differences(answer?.body, recorded.body, '')).toEqual([]);
  });
});

describe('what was recorded is read', () => {
  it.each([
    ['user', USER],
    ['repository', REPOSITORY],
    ['labels', z.array(LABEL).min(1)],
    ['organization labels', z.array(LABEL).min(1)],
    ['own permission', COLLABORATION],
    ['permission of another, for an administrator', COLLABORATION],
    ['issues', z.array(ISSUE).min(1)],
    ['issue', ISSUE],
    ['comments', z.array(COMMENT).min(1)],
    ['dependencies', z.array(ISSUE).min(1)],
    ['issue labels', z.array(LABEL).min(1)],
    ['timeline', z.array(LABEL_ENTRY.or(z.unknown())).min(1)],
    ['pull', PULL],
    ['reviews', z.array(REVIEW).min(1)],
    ['review comments', z.array(REVIEW_COMMENT).min(1)],
    ['status', COMBINED_STATUS],
  ] as const)('%s', (name, schema) => {
    expect(schema.safeParse(answers[name]?.body).error).toBeUndefined();
    expect(schema.safeParse(forgejo.answers[name]?.body).error).toBeUndefined();
  });

  it('Forgejo: a branch that is not there is answered 500', () => {
    expect(forgejo.answers['delete missing branch']?.status).toBe(500);
    expect(answers['delete missing branch']?.status).toBe(404);
  });
});

function sceneOf(fake: FakeGitea): Scene {
  const issue = fake.addIssue({ labels: ['todo'], dependencies: [2, 3] });
  fake.addIssue();
  fake.addIssue();
  fake.comment(issue, 'ann', 'hello');
  const sha = 'a'.repeat(40);
  const draft = fake.addPull({ draft: true });
  const pull = fake.addPull({ branch: 'feature/one', sha });
  const conflicting = fake.addPull({ branch: 'conflicting', mergeable: false });
  fake.editIssue(pull, { labels: ['todo'] });
  const review = fake.review(pull, { author: 'ann', state: 'APPROVED', body: 'fine', comments: [{ body: 'this line' }] });
  for (const context of ['build', 'lint']) fake.status(sha, { context, description: 'done' });
  fake.addBranch('unproposed');
  const spareLabel = fake.labels().find(({ name }) => name === 'spare')?.id ?? 0;
  const [owner = ''] = fake.project.split('/');
  const numbers = { issue, spareLabel, pull, review, draft, conflicting };
  const people = { self: 'foray-bot', writer: 'alice' };
  return { owner, project: fake.project, ...people, ...numbers, sha, branch: 'feature/one', unproposed: 'unproposed' };
}

/** Every header; of links and totals that they are there and where they lead. */
function headersOf(answer: RecordedAnswer | undefined): Readonly<Record<string, string>> {
  const { link, 'x-total-count': total, ...fixed } = answer?.headers ?? {};
  const relations = [...(link ?? '').matchAll(/rel="(\w+)"/g)].map(([, relation]) => relation).join();
  return { ...fixed, link: relations, 'x-total-count': total === undefined ? '' : 'a number' };
}

/** What an error says; ids and names differ from server to server. */
function messageOf(answer: RecordedAnswer | undefined): string {
  const { message } = z.object({ message: z.string() }).parse(answer?.body);
  return message.replace(/[,:]? ?[[(].*$/s, '').replace(/, required=.*$/s, '');
}

/** Fields of a fake answer that the real one does not have, or has of another type. */
function differences(fake: unknown, real: unknown, place: string): readonly string[] {
  if (Array.isArray(fake) && Array.isArray(real)) {
    if (fake.length === 0 || real.length === 0) return [];
    return differences(fake[0], real[0], `${place}[]`);
  }
  if (fake === null || real === null) return [];
  if (typeof fake !== typeof real) return [`${place}: ${typeof fake} instead of ${typeof real}`];
  if (typeof fake !== 'object' || typeof real !== 'object') return [];
  return Object.entries(fake).flatMap(([key, value]) =>
    key in real ? differences(value, (real as Record<string, unknown>)[key], `${place}.${key}`) : [`${place}.${key}: not there`],
  );
}
