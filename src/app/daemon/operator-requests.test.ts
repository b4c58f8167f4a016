import { afterAll, describe, expect, it } from 'vitest';
import { anOwner, CLOCK, makeFolder, TRACKER } from '../../../test/support/store/database.ts';
import type { AskedRequest } from '../../domain/model/operator.ts';
import { createNotices } from '../../orchestrator/notices.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { openOperatorRequests } from './operator-requests.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const PATIENCE = { timeout: 20_000 };

async function open(name: string) {
  const store = await openStore({ path: folder.file(name), owner: anOwner(), clock: CLOCK });
  await store.enter({ identity: TRACKER, configured: TRACKER, label: 'ours' });
  const reported: AskedRequest[] = [];
  const notices = createNotices(() => {});
  const warnings: string[] = [];
  const broken: { why: string | null } = { why: null };
  const requests = openOperatorRequests({
    store: {
      ...store,
      takeRequests: (trackers) => (broken.why === null ? store.takeRequests(trackers) : Promise.reject(new Error(broken.why))),
    },
    notices,
    logger: { debug() {}, info() {}, warn: (what, facts) => warnings.push(`${what}: ${String(facts?.['error'])}`), error() {} },
    mask: (text) => text.replaceAll('hush', '[redacted]'),
    report: (asked) => reported.push(asked),
    trackers: () => [TRACKER],
  });
  return { store, requests, reported, warnings, broken };
}

describe('while the service is still starting', () => {
  it('a pause is kept and carried out before anything else when it has started', async () => {
    const { requests, reported } = await open('pause.db');
    const answer = await requests.ask({ kind: 'pause', reason: 'release day' }, 'somebody');
    expect(answer).toEqual({
      outcome: 'taken',
      message: 'the service is still starting: this is carried out as soon as it has started',
    });
    expect(reported).toEqual([]);
    const first: AskedRequest[] = [];
    await requests.start((asked) => first.push(...asked));
    expect(first).toMatchObject([{ request: { kind: 'pause', reason: 'release day' }, by: 'somebody' }]);
    await requests.stop();
    expect(reported).toEqual([]);
  });

  it('what cannot be read then is told, and handed on when it can', async () => {
    const { store, requests, reported, warnings, broken } = await open('later.db');
    await store.addRequest({ kind: 'pause', reason: 'release day' }, 'somebody', null);
    broken.why = 'the disk is away';
    let first: readonly AskedRequest[] | null = null;
    await requests.start((asked) => (first = asked));
    expect(first).toEqual([]);
    expect(warnings).toEqual(['operator requests could not be read: the disk is away']);
    broken.why = null;
    await expect.poll(() => reported.map(({ request }) => request.kind), PATIENCE).toEqual(['pause']);
    await requests.stop();
  });

  it('what is asked of an issue is refused at once, and not done later', async () => {
    const { store, requests, reported } = await open('stop.db');
    const answer = await requests.ask({ kind: 'stop', identifier: 'T-1' }, 'somebody');
    expect(answer).toEqual({ outcome: 'refused', message: 'the service is still starting: ask again in a moment' });
    await requests.start(() => {});
    await store.addRequest({ kind: 'resume' }, 'somebody', null);
    await expect.poll(() => reported.map(({ request }) => request.kind), PATIENCE).toEqual(['resume']);
    await requests.stop();
  });
});

it('hides a secret in the reason of a pause that waited for the start', async () => {
  const { store, requests } = await open('waited.db');
  await store.addRequest({ kind: 'pause', reason: 'the key is hush' }, 'somebody', null);
  const first: AskedRequest[] = [];
  await requests.start((asked) => first.push(...asked));
  expect(first).toMatchObject([{ request: { kind: 'pause', reason: 'the key is [redacted]' } }]);
  await requests.stop();
});

it('hides a secret in the reason of a pause, whoever stored it, and leaves the name of an issue as it is', async () => {
  const { store, requests, reported } = await open('secret.db');
  await requests.start(() => {});
  await store.addRequest({ kind: 'pause', reason: 'the key is hush' }, 'somebody', null);
  await store.addRequest({ kind: 'stop', identifier: 'hush-1' }, 'somebody', null);
  await expect
    .poll(() => reported.map(({ request }) => request), PATIENCE)
    .toEqual([
      { kind: 'pause', reason: 'the key is [redacted]' },
      { kind: 'stop', identifier: 'hush-1' },
    ]);
  await requests.stop();
});
