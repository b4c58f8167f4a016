import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { openScm, requestFor } from '../../../test/fakes/gitea/connect-scm.ts';
import { asked, failureOf, never } from '../../../test/fakes/gitea/connect.ts';
import { json } from '../../../test/support/http-server.ts';
import type { Trust } from '../../domain/model/settings.ts';

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start() {
  const fake = await startFakeGitea({ labels: ['Foray:Fix', 'other'] });
  running.push(fake);
  fake.addPull();
  const { scm, logged } = openScm(fake);
  return {
    fake,
    logged,
    pending: (trust: Trust = 'anyone') => scm.readPendingReviews(requestFor(1), trust, never),
    bots: (names: readonly string[]) => scm.readBotReviewComments(requestFor(1), names, never),
    labels: () => scm.readLabelEvents(requestFor(1), never),
    look: () => scm.readMergeStatus(requestFor(1), never),
  };
}

describe('gitea pending reviews', () => {
  it('are the standing change requests, each with its body and then its comments', async () => {
    const { fake, pending } = await start();
    fake.review(1, { author: 'bob', state: 'COMMENT', body: 'nice', comments: [{ body: 'no' }] });
    const id = fake.review(1, {
      author: 'ann',
      state: 'REQUEST_CHANGES',
      body: 'please',
      comments: [
        { body: 'here', path: 'src/a.ts', position: 4 },
        { body: 'gone', path: 'src/b.ts', position: 0, originalPosition: 9 },
      ],
    });
    const found = await pending();
    expect(found.map((comment) => ({ ...comment, submittedAt: undefined }))).toEqual([
      { id: `review-${id}`, file: '', startLine: 0, endLine: 0, reviewer: 'ann', body: 'please', outdated: false },
      { id: String(id - 2), file: 'src/a.ts', startLine: 4, endLine: 4, reviewer: 'ann', body: 'here', outdated: false },
      { id: String(id - 1), file: 'src/b.ts', startLine: 9, endLine: 9, reviewer: 'ann', body: 'gone', outdated: true },
    ]);
    expect(asked(fake)).toEqual([
      'GET /repos/acme/app/pulls/1/reviews?page=1&limit=50',
      `GET /repos/acme/app/pulls/1/reviews/${id}/comments?page=1&limit=50`,
    ]);
    expect(await pending()).toEqual(found);
  });

  it('leave out dismissed ones, those approved away, and settled conversations', async () => {
    const { fake, pending } = await start();
    fake.review(1, { author: 'ann', state: 'REQUEST_CHANGES', body: 'old' });
    fake.review(1, { author: 'ann', state: 'APPROVED', body: 'fine' });
    fake.review(1, { author: 'eve', state: 'REQUEST_CHANGES', body: 'wrong', dismissed: true });
    fake.review(1, {
      author: 'bob',
      state: 'REQUEST_CHANGES',
      body: 'first',
      comments: [{ body: 'settled', resolvedBy: 'bob' }, { body: 'open' }],
    });
    fake.review(1, { author: 'bob', state: 'REQUEST_CHANGES', body: 'second' });
    expect((await pending()).map(({ body }) => body)).toEqual(['first', 'open', 'second']);
  });

  it('of collaborators: a comment counts by its own author, whosever review it stands in', async () => {
    const { fake, pending } = await start();
    fake.review(1, { author: 'Bob', state: 'APPROVED', body: 'fine' });
    fake.review(1, { author: 'mallory', state: 'APPROVED', body: 'me too', official: false });
    fake.review(1, {
      author: 'ann',
      state: 'REQUEST_CHANGES',
      body: 'please',
      comments: [
        { body: 'own' },
        { author: 'eve', body: 'a stranger answers' },
        { author: 'mallory', body: 'one whose review is not official' },
        { author: 'bob', body: 'another reviewer' },
      ],
    });
    expect((await pending('collaborators')).map(({ body }) => body)).toEqual(['please', 'own', 'another reviewer']);
    expect(await pending('anyone')).toHaveLength(5);
  });

  it('of collaborators: a comment that names no author counts for nothing', async () => {
    const { fake, pending } = await start();
    fake.review(1, { state: 'REQUEST_CHANGES', body: 'please' });
    fake.failNext('GET /comments', json([{ id: 4, user: null, body: 'who?' }]));
    expect((await pending('collaborators')).map(({ body }) => body)).toEqual(['please']);
  });

  it('cannot tell a bot: its change request is one like any other', async () => {
    const { fake, pending } = await start();
    fake.review(1, { author: 'review-bot', state: 'REQUEST_CHANGES', body: 'beep' });
    expect((await pending()).map(({ reviewer }) => reviewer)).toEqual(['review-bot']);
  });

  it.each([50, 51, 130])('%i comments come once each, whatever order the remote sends them in', async (count) => {
    const { fake, pending } = await start();
    const comments = Array.from({ length: count }, (_, index) => ({ body: `c${index}` }));
    fake.review(1, { state: 'REQUEST_CHANGES', comments });
    expect((await pending()).map(({ body }) => body)).toEqual(comments.map(({ body }) => body));
  });

  it('one comment that cannot be read does not lose the others', async () => {
    const { fake, pending, logged } = await start();
    fake.review(1, { state: 'REQUEST_CHANGES' });
    fake.failNext('GET /comments', json([null, { id: 'x' }, { id: 4, body: 'good' }]));
    expect(await pending()).toMatchObject([{ id: '4', file: '', startLine: 0, reviewer: 'rita', outdated: false }]);
    expect(logged('warn')).toHaveLength(1);
  });

  it('are none without reviews, and one request then', async () => {
    const { fake, pending } = await start();
    expect(await pending()).toEqual([]);
    expect(asked(fake)).toHaveLength(1);
  });
});

describe('gitea bot review comments', () => {
  it('an empty allowlist selects nothing and asks nothing', async () => {
    const { fake, bots } = await start();
    fake.review(1, { author: 'rita', body: 'x' });
    expect(await bots([])).toEqual([]);
    expect(await bots(['', ' '])).toEqual([]);
    expect(asked(fake)).toEqual([]);
  });

  it('keeps what the named accounts wrote, whatever the case of the name and the state of the review', async () => {
    const { fake, bots } = await start();
    fake.review(1, {
      author: 'Linter',
      state: 'COMMENT',
      body: 'one',
      comments: [{ body: 'two' }, { author: 'ann', body: 'reply' }],
    });
    fake.review(1, { author: 'ann', state: 'REQUEST_CHANGES', body: 'three', comments: [{ author: 'linter', body: 'four' }] });
    fake.review(1, { author: 'linter', state: 'APPROVED', body: 'five', submittedAt: 'nonsense' });
    fake.review(1, { author: 'linter', state: 'COMMENT', body: 'six', dismissed: true });
    fake.review(1, { author: null, state: 'COMMENT', body: 'seven' });
    expect((await bots(['LINTER', 'other'])).map(({ body }) => body)).toEqual(['one', 'two', 'four', 'five']);
  });

  it("leaves out a comment in a bot's review that names no author", async () => {
    const { fake, bots } = await start();
    fake.review(1, { author: 'linter', state: 'COMMENT', body: 'one' });
    fake.failNext('GET /comments', json([{ id: 4, user: null, body: 'who?' }]));
    expect((await bots(['linter'])).map(({ body }) => body)).toEqual(['one']);
  });
});

describe('gitea label events', () => {
  it('are what came and went, in order, by whom', async () => {
    const { fake, labels } = await start();
    fake.editIssue(1, { labels: ['Foray:Fix'] });
    fake.comment(1, 'eve', 'hello');
    fake.editIssue(1, { labels: ['other'] });
    const found = await labels();
    expect(found.map(({ label, added, actor }) => [label, added, actor])).toEqual([
      ['foray:fix', true, 'alice'],
      ['foray:fix', false, 'alice'],
      ['other', true, 'alice'],
    ]);
    expect(found.map(({ id }) => Number(id))).toEqual(found.map(({ id }) => Number(id)).toSorted((a, b) => a - b));
    expect(asked(fake)).toEqual(['GET /repos/acme/app/issues/1/timeline?page=1&limit=50']);
  });

  it('skip a label that was deleted', async () => {
    const { fake, labels } = await start();
    fake.editIssue(1, { labels: ['Foray:Fix', 'other'] });
    fake.deleteLabel('other');
    expect((await labels()).map(({ label }) => label)).toEqual(['foray:fix']);
  });

  it('are sorted by time and then id, however they arrive; what is no label event is not looked at', async () => {
    const { fake, labels } = await start();
    const entry = (id: number, at: unknown) => ({ id, type: 'label', body: '1', label: { name: `l${id}` }, created_at: at });
    fake.failNext(
      'GET /timeline',
      json([
        entry(12, '2026-01-01T00:00:02Z'),
        null,
        { id: 'x', type: 'comment', created_at: 'never' },
        entry(11, '2026-01-01T00:00:01Z'),
        entry(9, '2026-01-01T00:00:02Z'),
      ]),
    );
    expect((await labels()).map(({ id }) => id)).toEqual(['11', '9', '12']);
  });

  it.each([null, '', 'yesterday'])('an event at %j fails the read', async (at) => {
    const { fake, labels } = await start();
    fake.failNext('GET /timeline', json([{ id: 1, type: 'label', body: '1', label: { name: 'x' }, created_at: at }]));
    expect((await failureOf(labels())).kind).toBe('tracker_payload_error');
  });

  it('an event that cannot be read fails the read, rather than lose a command', async () => {
    const { fake, labels } = await start();
    fake.failNext('GET /timeline', json([{ type: 'label', body: '1', label: { name: 'x' } }]));
    expect((await failureOf(labels())).kind).toBe('tracker_payload_error');
  });

  it('are none where the timeline is null', async () => {
    const { labels } = await start();
    expect(await labels()).toEqual([]);
  });

  it('are found behind inline comments, which shorten the pages, once the pull request was read', async () => {
    const { fake, labels, look } = await start();
    for (let n = 0; n < 30; n += 1) fake.comment(1, 'eve', `c${n}`);
    fake.review(1, { comments: Array.from({ length: 170 }, (_, index) => ({ body: `i${index}` })) });
    fake.editIssue(1, { labels: ['Foray:Fix'] });
    await look();
    expect((await labels()).map(({ label }) => label)).toEqual(['foray:fix']);
  });

  it('or once the reviews were read', async () => {
    const { fake, labels, pending } = await start();
    fake.review(1, { comments: Array.from({ length: 60 }, () => ({})) });
    fake.editIssue(1, { labels: ['Foray:Fix'] });
    await pending();
    expect((await labels()).map(({ label }) => label)).toEqual(['foray:fix']);
  });
});
