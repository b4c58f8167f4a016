import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import { openSubject } from '../../../test/fakes/gitlab/connect.ts';
import { empty, json } from '../../../test/support/http-server.ts';
import { storedSpelling } from './labels.ts';

const never = new AbortController().signal;

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeGitlabOptions = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  const subject = openSubject(fake);
  const { labels } = subject.tracker;
  if (!labels) throw new Error('the tracker has no labels');
  const methods = () => fake.requests.map(({ method, path }) => `${method} ${path.slice(path.lastIndexOf('/'))}`);
  return { ...subject, fake, labels, methods };
}

describe('stored spelling', () => {
  it.each<[what: string, names: string[], label: string, spelling: string | undefined]>([
    ['the very spelling wins', ['Needs-Human', 'needs-human'], 'needs-human', 'needs-human'],
    ['else the first variant', ['Needs-Human', 'NEEDS-HUMAN'], 'needs-human', 'Needs-Human'],
    ['blanks around it do not matter', ['needs-human'], ' needs-human ', 'needs-human'],
    ['none', ['bug'], 'needs-human', undefined],
  ])('%s', (_, names, label, spelling) => {
    expect(storedSpelling(names, label)).toBe(spelling);
  });
});

describe('add', () => {
  it('in the casing of the catalogue, in one update', async () => {
    const { fake, labels, methods } = await connect({ groupLabels: ['Needs-Human'] });
    fake.addIssue({ labels: ['bug'] });
    await labels.add('1', 'needs-human', never);
    await labels.add('1', 'needs-human', never);
    expect(fake.issue(1).labels).toEqual(['Needs-Human', 'bug']);
    expect(fake.labelNames()).toEqual(['Needs-Human', 'bug']);
    expect(methods().slice(0, 2)).toEqual(['GET /labels', 'PUT /1']);
    expect(fake.requests[1]?.json()).toEqual({ add_labels: 'Needs-Human' });
  });

  it('a label nobody has is created with the configured spelling', async () => {
    const { fake, labels, warnings } = await connect();
    fake.addIssue();
    await labels.add('1', ' needs human ', never);
    expect(fake.issue(1).labels).toEqual(['needs human']);
    expect(warnings()).toEqual([]);
  });

  it.each(['', '  ', '\n'])('%j is blank: no request and a warning', async (label) => {
    const { fake, labels, warnings } = await connect();
    fake.addIssue();
    await labels.add('1', label, never);
    expect(fake.requests).toEqual([]);
    expect(warnings()).toMatchObject([{ attributes: { issue_identifier: '1' } }]);
  });

  it('with the catalogue unavailable the configured spelling is attached, with a warning', async () => {
    const { fake, labels, warnings } = await connect({ labels: ['Needs-Human'] });
    fake.addIssue();
    fake.failNext({ path: /labels$/ }, empty(500));
    await labels.add('1', 'needs-human', never);
    expect(fake.issue(1).labels).toEqual(['needs-human']);
    expect(warnings()).toMatchObject([{ attributes: { label: 'needs-human' } }]);
  });

  it('a label that is not on the issue afterwards was not added', async () => {
    const { fake, labels } = await connect();
    fake.addIssue({ labels: ['bug'] });
    fake.failNext({ method: 'PUT', path: /issues\/1$/ }, json({ iid: 1, labels: ['bug'] }));
    const detail = 'the label "needs-human" was accepted but issue 1 does not carry it';
    await expect(labels.add('1', 'needs-human', never)).rejects.toMatchObject({ kind: 'tracker_payload_error', detail });
  });

  it('a comma is refused before any request; a missing issue is not found', async () => {
    const { fake, labels } = await connect();
    await expect(labels.add('1', 'a,b', never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    expect(fake.requests).toEqual([]);
    await expect(labels.add('1', 'a', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });
});

describe('remove', () => {
  it('every case variant in one update', async () => {
    const { fake, labels } = await connect();
    fake.addIssue({ labels: ['Bug', 'bug', 'bugs', 'BUG'] });
    await labels.remove('1', 'bug', never);
    expect(fake.issue(1).labels).toEqual(['bugs']);
    expect(fake.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  it('nothing to remove, no write', async () => {
    const { fake, labels, methods } = await connect();
    fake.addIssue({ labels: ['bug'] });
    await labels.remove('1', 'ghost', never);
    expect(methods()).toEqual(['GET /1']);
    await labels.remove('1', ' ', never);
    expect(fake.requests).toHaveLength(1);
  });
});
