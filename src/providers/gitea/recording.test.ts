import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type FakeGitea, startFakeGitea } from '../../../test/fakes/gitea.ts';
import { COMMENT, ISSUE, LABEL, REPOSITORY } from './schema.ts';

const ANSWER = z.object({ status: z.number(), headers: z.record(z.string(), z.string()), body: z.unknown() });
const RECORDING = z.object({ version: z.string(), answers: z.record(z.string(), ANSWER) });
const file = new URL('../../../test/recordings/gitea.json', import.meta.url);
const { answers } = RECORDING.parse(JSON.parse(await readFile(file, 'utf8')));

const ROUTES: readonly (readonly [name: string, route: string])[] = [
  ['repository', ''],
  ['labels', '/labels?limit=1'],
  ['issues', '/issues?state=open&type=issues&limit=1'],
  ['issue', '/issues/1'],
  ['comments', '/issues/1/comments'],
  ['dependencies', '/issues/1/dependencies?limit=1'],
  ['issue labels', '/issues/1/labels'],
  ['missing issue', '/issues/999'],
];

describe('the fake answers as the real server was recorded to', () => {
  let fake: FakeGitea;
  beforeAll(async () => {
    fake = await startFakeGitea({ labels: ['todo', 'doing'] });
    fake.addIssue({ labels: ['todo'], dependencies: [2] });
    fake.addIssue();
    fake.comment(1, 'ann', 'hello');
  });
  afterAll(() => fake.close());

  it.each(ROUTES)('%s: status, paging headers and fields', async (name, route) => {
    const recorded = answers[name];
    const url = `${fake.url}/api/v1/repos/${fake.project}${route}`;
    const response = await fetch(url, { headers: { authorization: `token ${fake.token}` } });
    expect(response.status).toBe(recorded?.status);
    for (const header of ['link', 'x-total-count']) {
      expect([header, response.headers.has(header)]).toEqual([header, recorded?.headers[header] !== undefined]);
    }
    expect(unknownFields(await response.json(), recorded?.body)).toEqual([]);
  });
});

describe('what was recorded is read', () => {
  it.each([
    ['repository', REPOSITORY],
    ['labels', z.array(LABEL)],
    ['issues', z.array(ISSUE)],
    ['issue', ISSUE],
    ['comments', z.array(COMMENT)],
    ['dependencies', z.array(ISSUE)],
    ['issue labels', z.array(LABEL)],
  ] as const)('%s', (name, schema) => {
    expect(schema.safeParse(answers[name]?.body).success).toBe(true);
  });
});

/** Fields of a fake answer that the real one does not have. */
function unknownFields(fake: unknown, real: unknown): readonly string[] {
  const first = (value: unknown): object => (Array.isArray(value) ? (value[0] as object) : (value as object)) ?? {};
  return Object.keys(first(fake)).filter((key) => !(key in first(real)));
}
