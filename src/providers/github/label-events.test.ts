import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../test/fakes/github/connect.ts';
import { REQUEST, scmConnections } from '../../../test/fakes/github/connect-scm.ts';
import type { FakeGithub } from '../../../test/fakes/github.ts';
import { json } from '../../../test/support/http-server.ts';

const signal = new AbortController().signal;
const connect = scmConnections();

/** So many additions and removals in turn. */
function toggle(fake: FakeGithub, count: number): void {
  for (let done = 0; done < count; done += 1) {
    if (fake.pulls.get(1).issue.labels.length === 0) fake.pulls.label(1, 'Fix', 'ann');
    else fake.pulls.unlabel(1, 'fix', 'bob');
  }
}

const pagesAsked = (fake: FakeGithub): (string | null)[] =>
  fake.requests.map(({ path, query }) => (path.endsWith('/issues/1/events') ? query.get('page') : path));

describe('the journal of labels', () => {
  it('is in the order of time, with who did what', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, 2);
    await scm.removeLabel(REQUEST, 'x', signal);
    const events = await scm.readLabelEvents(REQUEST, signal);
    expect(events.map(({ label, added, actor }) => [label, added, actor])).toEqual([
      ['fix', true, 'ann'],
      ['fix', false, 'bob'],
    ]);
    expect(events.every(({ id, at }) => /^\d+$/.test(id) && !Number.isNaN(Date.parse(at)))).toBe(true);
  });

  it.each([
    [0, [null]],
    [100, [null]],
    [101, [null, '2']],
    [350, [null, '4', '3', '2']],
  ])('of %d events is read from its end', async (count, pages) => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, count);
    expect(await scm.readLabelEvents(REQUEST, signal)).toHaveLength(count);
    expect(pagesAsked(fake)).toEqual(pages);
  });

  it('that is very long is read as far back as the cap goes, and says so', async () => {
    const { fake, scm, warnings } = await connect();
    fake.pulls.add();
    toggle(fake, 1450);
    const events = await scm.readLabelEvents(REQUEST, signal);
    expect(pagesAsked(fake)).toEqual([null, '15', '14', '13', '12', '11', '10', '9', '8', '7']);
    expect(events.at(-1)?.id).toBe(String(fake.pulls.get(1).issue.events.at(-1)?.id));
    expect(warnings).toEqual([
      {
        message: 'journal of events is long, its oldest pages are left out',
        attributes: { tracker_kind: 'repoissues', endpoint: '/repos/acme/widgets/issues/1/events', pages: 10, left_out: 6 },
      },
    ]);
  });

  it('costs nothing while nothing happens, and misses nothing afterwards', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, 150);
    await scm.readLabelEvents(REQUEST, signal);
    const left = fake.remaining('core');
    expect(await scm.readLabelEvents(REQUEST, signal)).toHaveLength(150);
    expect(fake.remaining('core')).toBe(left);
    // The first page stays the same, and with it the link to what was the last one.
    toggle(fake, 170);
    expect(await scm.readLabelEvents(REQUEST, signal)).toHaveLength(320);
  });

  it('finds its end however much happened since the links that are remembered', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, 150);
    await scm.readLabelEvents(REQUEST, signal);
    toggle(fake, 1400);
    const events = await scm.readLabelEvents(REQUEST, signal);
    expect(events.at(-1)?.id).toBe(String(fake.pulls.get(1).issue.events.at(-1)?.id));
    expect(events.length).toBeGreaterThan(800);
  });

  it('sees what comes behind a page that was just full', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, 100);
    expect(await scm.readLabelEvents(REQUEST, signal)).toHaveLength(100);
    toggle(fake, 1);
    expect(await scm.readLabelEvents(REQUEST, signal)).toHaveLength(101);
  });

  it('fails on a time that cannot be read', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, 2);
    Object.assign(fake.pulls.get(1).issue.events[0] ?? {}, { createdAt: '2026-99-99' });
    expect((await failureOf(scm.readLabelEvents(REQUEST, signal))).kind).toBe('tracker_payload_error');
  });

  it.each([
    [json({ message: 'Not Found' }, 404), 'tracker_not_found'],
    [json({ message: 'Gone' }, 410), 'tracker_api_error'],
    [json({}), 'tracker_payload_error'],
    [json(null), 'tracker_payload_error'],
  ])('fails on an answer without a list (%#: %s)', async (reply, kind) => {
    const { fake, scm } = await connect();
    fake.failNext(/\/events$/, reply);
    expect((await failureOf(scm.readLabelEvents(REQUEST, signal))).kind).toBe(kind);
  });

  it('fails when a page in the middle does', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    toggle(fake, 250);
    fake.before(/\/events$/, () => fake.failNext(/\/events$/, json({ message: 'Down' }, 502)));
    expect((await failureOf(scm.readLabelEvents(REQUEST, signal))).kind).toBe('tracker_transport_error');
  });
});
