import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { asked, failureOf, never, openTracker } from '../../../test/fakes/gitea/connect.ts';
import { empty, json } from '../../../test/support/http-server.ts';

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = {}) {
  const fake = await startFakeGitea(options);
  running.push(fake);
  const { labels } = openTracker(fake).tracker;
  if (!labels) throw new Error('labels can be written');
  return { fake, labels };
}

describe('gitea label add', () => {
  it('resolves the name among repository labels whatever its case, and attaches by id', async () => {
    const { fake, labels } = await start({ labels: ['Needs-Human'] });
    fake.addIssue();
    await labels.add('1', ' needs-HUMAN ', never);
    expect(fake.issue(1).labels).toEqual(['Needs-Human']);
    expect(fake.requests.at(-1)?.json()).toEqual({ labels: [fake.labels()[0]?.id] });
    expect(asked(fake)).toEqual(['GET /repos/acme/app/labels?limit=50', 'POST /repos/acme/app/issues/1/labels']);
  });

  it('creates the label lowercased when it is unresolved', async () => {
    const { fake, labels } = await start();
    fake.addIssue();
    await labels.add('1', 'Needs-Human', never);
    expect(fake.labels()).toMatchObject([{ name: 'needs-human', color: 'cccccc', ofOrganization: false }]);
  });

  it('an organization-only name yields a new repository label', async () => {
    const { fake, labels } = await start({ organizationLabels: ['stuck'] });
    fake.addIssue();
    await labels.add('1', 'stuck', never);
    expect(fake.labels().map(({ ofOrganization }) => ofOrganization)).toEqual([true, false]);
    expect(fake.issue(1).labelIds).toEqual(new Set([fake.labels()[1]?.id]));
  });

  it('after which the label is missing is a payload error', async () => {
    const { fake, labels } = await start({ labels: ['stuck'] });
    fake.addIssue();
    fake.failNext('POST /issues/1/labels', json([{ id: 1, name: 'other' }]));
    expect((await failureOf(labels.add('1', 'stuck', never))).kind).toBe('tracker_payload_error');
  });

  it('of a blank name is refused without a request', async () => {
    const { fake, labels } = await start();
    fake.addIssue();
    expect((await failureOf(labels.add('1', ' ', never))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toEqual([]);
  });
});

describe('gitea label removal', () => {
  it('deletes every spelling the issue carries, by id, and reads the issue once more', async () => {
    const { fake, labels } = await start({ labels: ['Stuck', 'stuck', 'bug'] });
    fake.addIssue({ labels: ['Stuck', 'stuck', 'bug'] });
    await labels.remove('1', 'STUCK', never);
    expect(fake.issue(1).labels).toEqual(['bug']);
    const ids = fake.labels().map(({ id }) => id);
    expect(asked(fake)).toEqual([
      'GET /repos/acme/app/issues/1',
      `DELETE /repos/acme/app/issues/1/labels/${ids[0]}`,
      `DELETE /repos/acme/app/issues/1/labels/${ids[1]}`,
      'GET /repos/acme/app/issues/1',
    ]);
  });

  it('deletes nothing when none matches', async () => {
    const { fake, labels } = await start({ labels: ['stuck'] });
    fake.addIssue({ labels: ['stucker'] });
    await labels.remove('1', 'stuck', never);
    expect(asked(fake)).toEqual(['GET /repos/acme/app/issues/1']);
  });

  it.each([404, 422])('goes on after a delete answered %i', async (status) => {
    const { fake, labels } = await start();
    fake.addIssue({ labels: ['Stuck', 'stuck'] });
    fake.failNext((request) => request.method === 'DELETE', json({ message: 'gone' }, status));
    fake.beforeNext(
      (request) => request.method === 'DELETE',
      () => fake.deleteLabel('Stuck'),
    );
    await labels.remove('1', 'stuck', never);
    expect(fake.issue(1).labels).toEqual([]);
  });

  it('stops at any other failure', async () => {
    const { fake, labels } = await start();
    fake.addIssue({ labels: ['stuck'] });
    fake.failNext((request) => request.method === 'DELETE', json({}, 403));
    expect((await failureOf(labels.remove('1', 'stuck', never))).kind).toBe('tracker_auth_error');
  });

  it('after which the label remains is a payload error', async () => {
    const { fake, labels } = await start();
    fake.addIssue({ labels: ['stuck'] });
    fake.failNext((request) => request.method === 'DELETE', empty());
    expect((await failureOf(labels.remove('1', 'stuck', never))).kind).toBe('tracker_payload_error');
  });

  it('of a pull request is not found', async () => {
    const { fake, labels } = await start();
    fake.addIssue({ isPull: true, labels: ['stuck'] });
    expect((await failureOf(labels.remove('1', 'stuck', never))).kind).toBe('tracker_not_found');
  });
});

describe('gitea label lists past one page', () => {
  const MANY = Array.from({ length: 60 }, (_, index) => `label-${String(index + 1)}`);

  it('are read by counting pages: the server sends their total and no link', async () => {
    const { fake, labels } = await start({ labels: [...MANY, 'stuck'] });
    fake.addIssue();
    await labels.add('1', 'stuck', never);
    expect(fake.labels()).toHaveLength(61);
    expect(asked(fake).slice(0, 2)).toEqual([
      'GET /repos/acme/app/labels?limit=50',
      'GET /repos/acme/app/labels?page=2&limit=50',
    ]);
  });

  it('are read to their end where the server makes its pages smaller', async () => {
    const { fake, labels } = await start({ labels: [...MANY, 'stuck'], maxPageSize: 20 });
    fake.addIssue();
    await labels.add('1', 'stuck', never);
    expect(fake.labels()).toHaveLength(61);
  });

  it('follow a link where there is one', async () => {
    const { fake, labels } = await start({ labels: ['stuck'] });
    fake.addIssue();
    const link = `<${fake.url}/api/v1/repos/acme/app/labels?cursor=x>; rel="next"`;
    fake.failNext('GET /labels', json([{ id: 90, name: 'other' }], 200, { link }));
    await labels.add('1', 'stuck', never);
    expect(asked(fake).slice(0, 2)).toEqual(['GET /repos/acme/app/labels?limit=50', 'GET /repos/acme/app/labels?cursor=x']);
  });
});
