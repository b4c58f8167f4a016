import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFakeDaemon, NOON, type FakeDaemon } from '../../test/support/fake-daemon.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createApp } from './routes.ts';

const SECRET = 'between-us-two';
const BODY = '{"action":"opened"}';
const hmac = (body: string) => createHmac('sha256', SECRET).update(body).digest('hex');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function setUp(kinds: readonly string[], webhookSecret: string | null = SECRET, daemon = createFakeDaemon()) {
  daemon.kinds = kinds;
  const app = createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
    { webhookSecret, token: 'not asked for here' },
  );
  const send = (kind: string, headers: Record<string, string>, body = BODY) =>
    app.request(`/hooks/${kind}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  return { daemon, app, send };
}

const VENDORS = [
  ['github', 'repoissues', 'X-Hub-Signature-256', `sha256=${hmac(BODY)}`, 'X-GitHub-Delivery'],
  ['repoissues', 'repoissues', 'X-Hub-Signature-256', `sha256=${hmac(BODY)}`, 'X-GitHub-Delivery'],
  ['gitlab', 'nsproject', 'X-Gitlab-Token', SECRET, 'X-Gitlab-Event-UUID'],
  ['gitea', 'selfhosted', 'X-Gitea-Signature', hmac(BODY), 'X-Gitea-Delivery'],
  ['forgejo', 'selfhosted', 'X-Forgejo-Signature', hmac(BODY), 'X-Forgejo-Delivery'],
  ['linear', 'graphql', 'Linear-Signature', hmac(BODY), 'Linear-Delivery'],
  ['jira', 'wfboard', 'X-Hub-Signature', `sha256=${hmac(BODY)}`, 'X-Atlassian-Webhook-Identifier'],
] as const;

describe.each(VENDORS)('POST /hooks/%s', (name, kind, header, signature, delivery) => {
  it('takes what is signed, once', async () => {
    const { daemon, send } = setUp([kind]);
    expect((await send(name, { [header]: signature, [delivery]: 'one' })).status).toBe(202);
    expect(daemon.hints).toBe(1);
    await vi.advanceTimersByTimeAsync(5000);
    const again = await send(name, { [header]: signature, [delivery]: 'one' });
    expect(again.status).toBe(202);
    expect(await again.json()).toEqual({ accepted: true, duplicate: true });
    expect(daemon.hints).toBe(1);
    await send(name, { [header]: signature, [delivery]: 'two' });
    expect(daemon.hints).toBe(2);
    daemon.now = NOON + 24 * 3600_000 + 1;
    await vi.advanceTimersByTimeAsync(5000);
    await send(name, { [header]: signature, [delivery]: 'one' });
    expect(daemon.hints).toBe(3);
  });

  it('refuses what is not, and learns nothing from it', async () => {
    const { daemon, send } = setUp([kind]);
    const wrong = [{}, { [header]: '' }, { [header]: `${signature}0` }, { [header]: signature.slice(1) }];
    for (const headers of wrong) expect((await send(name, { ...headers, [delivery]: 'one' })).status).toBe(401);
    if (name !== 'gitlab') expect((await send(name, { [header]: signature }, `${BODY} `)).status).toBe(401);
    expect(daemon.hints).toBe(0);
    await send(name, { [header]: signature, [delivery]: 'one' });
    expect(daemon.hints).toBe(1);
  });

  it('is 404 for a kind that is not watched, and without a secret', async () => {
    expect((await setUp(['file']).send(name, { [header]: signature })).status).toBe(404);
    expect((await setUp([kind], null).send(name, { [header]: signature })).status).toBe(404);
  });
});

describe('webhooks', () => {
  it('may have a secret that is no ASCII, whose bytes a header has', async () => {
    const { send } = setUp(['nsproject'], 'gehéim');
    const sent = Buffer.from('gehéim').toString('latin1');
    expect((await send('gitlab', { 'X-Gitlab-Token': sent })).status).toBe(202);
    expect((await send('gitlab', { 'X-Gitlab-Token': 'geheim' })).status).toBe(401);
  });

  it('of an unknown kind are 404, by another method 405', async () => {
    const { app, send } = setUp(['file']);
    expect((await send('file', {})).status).toBe(404);
    expect((await send('bitbucket', {})).status).toBe(404);
    const got = await app.request('/hooks/github');
    expect(got.status).toBe(405);
    expect(got.headers.get('allow')).toBe('POST');
  });

  it('over 1 MiB are 413, with and without a length', async () => {
    const { app, send } = setUp(['repoissues']);
    const fits = 'x'.repeat(1024 * 1024);
    expect((await send('github', { 'X-Hub-Signature-256': `sha256=${hmac(fits)}` }, fits)).status).toBe(202);
    expect((await send('github', {}, `${fits}x`)).status).toBe(413);
    const body = new Blob([`${fits}x`]).stream();
    const streamed = await app.request('/hooks/github', { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  describe('that were taken before', () => {
    const send = async (daemon: FakeDaemon, id: string) => {
      const { send: post } = setUp(['nsproject'], SECRET, daemon);
      const response = await post('gitlab', { 'X-Gitlab-Token': SECRET, 'X-Gitlab-Event-UUID': id });
      return [response.status, await response.json()];
    };
    const taken = [202, { accepted: true, duplicate: false }];
    const known = [202, { accepted: true, duplicate: true }];

    it('do nothing after a restart either, for a day', async () => {
      const before = createFakeDaemon();
      const { notes } = before;
      expect(await send(before, 'one')).toEqual(taken);
      const restarted = createFakeDaemon({ notes, now: NOON + 24 * 3600_000 - 1 });
      expect(await send(restarted, 'one')).toEqual(known);
      expect(restarted.hints).toBe(0);
      expect(await send(restarted, 'two')).toEqual(taken);
      const later = createFakeDaemon({ notes, now: NOON + 24 * 3600_000 });
      expect(await send(later, 'one')).toEqual(taken);
      expect(await send(later, 'two')).toEqual(known);
      expect(later.hints).toBe(1);
    });

    it('are looked for one at a time: a burst does not read again what came before', async () => {
      const { notes } = createFakeDaemon();
      let read = 0;
      const counting = {
        addNotes: notes.addNotes,
        listNotes: async (query: Parameters<typeof notes.listNotes>[0]) => {
          const found = await notes.listNotes(query);
          read += found.length;
          return found;
        },
      };
      const { send: post } = setUp(['nsproject'], SECRET, createFakeDaemon({ notes: counting }));
      for (let i = 0; i < 20; i++) await post('gitlab', { 'X-Gitlab-Token': SECRET, 'X-Gitlab-Event-UUID': `${i}` });
      expect(read).toBe(0);
    });

    it('two at once are one', async () => {
      const { send: post, daemon } = setUp(['nsproject']);
      const headers = { 'X-Gitlab-Token': SECRET, 'X-Gitlab-Event-UUID': 'one' };
      const answers = await Promise.all([post('gitlab', headers), post('gitlab', headers)]);
      const told = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { duplicate: boolean }).duplicate));
      expect(told.toSorted()).toEqual([false, true]);
      expect(daemon.hints).toBe(1);
    });

    it('are taken, and told of, where the store fails', async () => {
      const fail = () => Promise.reject(new Error('disk full'));
      const daemon = createFakeDaemon({ notes: { addNotes: fail, listNotes: fail } });
      expect(await send(daemon, 'one')).toEqual(taken);
      expect(daemon.hints).toBe(1);
      expect(daemon.logged.map(({ message }) => message)).toEqual([
        'earlier webhook deliveries could not be read',
        'a webhook delivery could not be written down',
      ]);
    });
  });

  it('bring at most one hint a second, and the last one is not lost', async () => {
    const { daemon, send } = setUp(['nsproject']);
    for (let i = 0; i < 20; i++) await send('gitlab', { 'X-Gitlab-Token': SECRET, 'X-Gitlab-Event-UUID': `${i}` });
    expect(daemon.hints).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(daemon.hints).toBe(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(daemon.hints).toBe(2);
  });
});
