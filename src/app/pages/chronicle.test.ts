import { expect, it } from 'vitest';
import { createNotices, anIssue } from '../../../test/support/fake-daemon.ts';
import { createMemoryStore } from '../../../test/support/store/memory.ts';
import type { Quota } from '../../domain/model/quota.ts';
import { retriesIn, silenceIn } from '../adapters/check-tracker.ts';
import { stateGivenSince } from '../../domain/views/chronicle.ts';
import { keepChronicle, troublesSince } from './chronicle.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const issue = anIssue('A-1');
const MINUTE = 60_000;

function setUp(store = createMemoryStore()) {
  const notices = createNotices();
  const time = { now: 1_000_000 };
  const chronicle = keepChronicle({ store, notices, clock: { now: () => time.now }, logger: silent });
  const tick = (running: number) =>
    notices.announce({
      name: 'poll:tick:completed',
      facts: { candidates: 3, dispatched: 0, running, retrying: 1, durationMs: 40 + running },
    });
  return { store, notices, chronicle, time, tick };
}

it('tells what happened to an issue, also after a restart', async () => {
  const before = setUp();
  before.notices.announce({ name: 'handoff:transition:succeeded', facts: { issue, state: 'review' } });
  before.notices.announce({
    name: 'reaction:merge:succeeded',
    facts: { issue, number: 7, headSha: 'abc', byUs: true },
  });
  before.notices.announce({ name: 'handoff:transition:succeeded', facts: { issue: anIssue('B-2'), state: 'review' } });
  const entries = [
    { at: 1_000_000, tone: 'good', text: 'handed off to review', given: { state: 'review' } },
    { at: 1_000_000, tone: 'good', text: 'merge request #7 was merged by foray', given: null },
  ];
  expect(await before.chronicle.journalOf('A-1', '')).toEqual(entries);
  await before.chronicle.stop();
  expect(await setUp(before.store).chronicle.journalOf('A-1', '')).toEqual(entries);
});

it('who asked for something stands there', async () => {
  const { notices, chronicle } = setUp();
  notices.announce({
    name: 'operator:request:answered',
    facts: {
      id: '1',
      request: { kind: 'stop', identifier: 'A-1' },
      by: 'ada (10.0.0.7)',
      answer: { outcome: 'taken', message: 'the session is told to stop' },
    },
  });
  expect(await chronicle.journalOf('A-1', '')).toMatchObject([
    { text: 'ada (10.0.0.7) asked to stop: the session is told to stop' },
  ]);
});

it('what a person is called gives an issue no state', async () => {
  const { notices, chronicle } = setUp();
  notices.announce({ name: 'reaction:completion:succeeded', facts: { issue, state: 'Closed' } });
  notices.announce({
    name: 'operator:request:answered',
    facts: {
      id: '1',
      request: { kind: 'stop', identifier: 'A-1' },
      by: 'moved to Done',
      answer: { outcome: 'taken', message: 'the session is told to stop' },
    },
  });
  expect(stateGivenSince(await chronicle.journalOf('A-1', ''), 0)).toBe('Closed');
});

it.each([
  { text: 'handed off to review', tone: 'good', state: 'review' },
  { text: 'handed off to in review by somebody else', tone: 'good', state: 'in review' },
  { text: 'moved to Done', tone: 'good', state: 'Done' },
  { text: 'not handed off: it was moved meanwhile', tone: 'plain', state: null },
  { text: 'moved to Done asked to stop: the session is told to stop', tone: 'plain', state: undefined },
  { text: 'released: moved to Done', tone: 'plain', state: undefined },
])('a note of an earlier version is read by its words: $text', async ({ text, tone, state }) => {
  const { store, chronicle } = setUp();
  await store.addNotes([{ at: 1, subject: 'issue A-1 of ', body: JSON.stringify({ text, tone }) }]);
  expect(stateGivenSince(await chronicle.journalOf('A-1', ''), 0)).toBe(state);
});

it('polls are kept as one for every five minutes, and those not yet kept are there too', async () => {
  const { store, chronicle, time, tick, notices } = setUp();
  const quota: Quota = {
    kind: 'k',
    resource: 'core',
    rule: 'hold',
    limit: 10,
    remaining: 9,
    resetAt: null,
    pollCost: 1,
  };
  notices.announce({ name: 'tracker:quotas:read', facts: { quotas: [quota] } });
  tick(2);
  time.now += 2 * MINUTE;
  notices.announce({
    name: 'poll:tick:failed',
    facts: { error: 'no', kind: 'tracker_api_error', retryInMs: 1, durationMs: 900 },
  });
  time.now += 4 * MINUTE;
  tick(5);
  expect(await chronicle.samplesSince(0)).toEqual([
    { at: 1_120_000, running: 2, retrying: 1, pollMs: 900, failed: 1, polls: 2, left: { core: 9 } },
    { at: 1_360_000, running: 5, retrying: 1, pollMs: 45, failed: 0, polls: 1, left: { core: 9 } },
  ]);
  await chronicle.stop();
  const after = setUp(store);
  expect(await after.chronicle.samplesSince(0)).toHaveLength(2);
  expect(await after.chronicle.samplesSince(1_200_000)).toHaveLength(1);
});

it('a note that cannot be read or stored spoils nothing', async () => {
  const { store, chronicle, notices } = setUp();
  await store.addNotes([{ at: 1, subject: 'issue A-1', body: 'from another version' }]);
  store.addNotes = () => Promise.reject(new Error('full'));
  notices.announce({ name: 'handoff:transition:succeeded', facts: { issue, state: 'review' } });
  expect(await chronicle.journalOf('A-1', '')).toEqual([]);
});

it('what keeps the whole service back is kept while it does, for commands to tell', async () => {
  const { store, notices, chronicle, time } = setUp();
  const failed = (error: string) =>
    ({ name: 'poll:tick:failed', facts: { error, kind: 'tracker_auth_error', retryInMs: 1000, durationMs: 5 } }) as const;
  notices.announce(failed('refused'));
  time.now += MINUTE;
  notices.announce(failed('refused'));
  notices.announce({ name: 'workflow:file:rejected', facts: { path: '/w', problems: ['agent.kind: unknown'], faults: [] } });
  await chronicle.stop();
  const text = expect.stringMatching(/^refused; renew the token/) as string;
  expect(await troublesSince(0, store)).toEqual([
    { ...TROUBLE, what: 'tracker', since: 1_000_000, text },
    { ...TROUBLE, what: 'workflow', since: time.now, text: 'the last edit is rejected: agent.kind: unknown' },
  ]);
  expect(await store.listNotes({ subject: 'service', limit: 9 })).toHaveLength(2);
  const next = setUp(store);
  next.time.now = time.now + MINUTE;
  next.notices.announce(failed('refused'));
  next.tick(0);
  await next.chronicle.stop();
  expect(await troublesSince(next.time.now, store)).toEqual([]);
});

const TROUBLE = { place: null, nextTryAt: null, isSilence: false };

it('that a service is stopping is kept for commands to tell', async () => {
  const { store, notices, chronicle } = setUp();
  notices.announce({ name: 'daemon:drain:started', facts: { running: 1 } });
  await chronicle.stop();
  const text = 'the service is stopping: sessions that run are ended';
  expect(await troublesSince(0, store)).toEqual([{ ...TROUBLE, what: 'stopping', since: 1_000_000, text }]);
});

it('that polls wait for the quota is kept with its end, and told anew when that moves', async () => {
  const { store, notices, chronicle, time, tick } = setUp();
  const waits = (until: number) =>
    ({ name: 'poll:tick:postponed', facts: { reason: '9 of 5000 are left', resource: 'core', until } }) as const;
  notices.announce(waits(5_000_000));
  time.now += MINUTE;
  notices.announce(waits(6_000_000));
  // One that a person asked for.
  tick(0);
  const trouble = { ...TROUBLE, what: 'tracker_quota', since: 1_000_000, text: '9 of 5000 are left', nextTryAt: 6_000_000 };
  await expect.poll(() => troublesSince(0, store)).toEqual([trouble]);
  notices.announce({ name: 'poll:tick:resumed', facts: {} });
  await chronicle.stop();
  expect(await troublesSince(0, store)).toEqual([]);
});

it('a tracker that takes long to answer keeps it back until it has', async () => {
  const { store, notices, chronicle, time, tick } = setUp();
  silenceIn(notices.announce)('repoissues');
  time.now += 1;
  const text = 'the tracker has not answered yet; check tracker.endpoint, the network and the proxy where this stays';
  const silent = { ...TROUBLE, what: 'tracker', since: 1_000_000, text, isSilence: true };
  await expect.poll(() => troublesSince(0, store)).toEqual([silent]);
  tick(0);
  await chronicle.stop();
  expect(await troublesSince(0, store)).toEqual([]);
});

it('why a start could not read its tracker is kept with the next try, whatever silence follows', async () => {
  const { store, notices, chronicle, time, tick } = setUp();
  const tellRetry = retriesIn(notices.announce);
  const failed = { error: 'status 503', kind: 'tracker_transport_error' } as const;
  tellRetry({ ...failed, retryInMs: 1000, tries: 1 });
  time.now += 800;
  silenceIn(notices.announce)('repoissues');
  const text = expect.stringMatching(/^status 503; .*check tracker\.endpoint/) as string;
  const told = { ...TROUBLE, what: 'tracker', since: 1_000_000, text };
  await expect.poll(() => troublesSince(0, store)).toEqual([{ ...told, nextTryAt: 1_001_000 }]);
  time.now += 200;
  tellRetry({ ...failed, retryInMs: 2000, tries: 2 });
  await expect.poll(() => troublesSince(0, store)).toEqual([{ ...told, nextTryAt: 1_003_000 }]);
  tick(0);
  await chronicle.stop();
  expect(await troublesSince(0, store)).toEqual([]);
});
