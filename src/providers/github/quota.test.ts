import { afterEach, expect, it } from 'vitest';
import { connectTracker, trackerSettings } from '../../../test/fakes/github/connect.ts';
import type { QuotaReading } from '../../ports/runtime.ts';
import { createTracker } from './tracker.ts';

const never = new AbortController().signal;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** What a tracker with this filter tells of its budgets while it is polled twice. */
async function readings(queryFilter: string): Promise<readonly QuotaReading[]> {
  const { fake } = await connectTracker();
  open.push(() => fake.close());
  const told: QuotaReading[] = [];
  const tracker = createTracker(trackerSettings({ endpoint: fake.url, apiKey: fake.token, queryFilter }), {
    logger: silent,
    clock: { now: () => 0 },
    version: '1',
    workflowDir: '/',
    meter: { made: () => {}, left: (reading) => void told.push(reading) },
  });
  await tracker.fetchCandidateIssues(never);
  await tracker.fetchCandidateIssues(never);
  return told;
}

it('lists are paid from the large budget, and what did not change costs nothing', async () => {
  expect(await readings('')).toMatchObject([
    { kind: 'repoissues', resource: 'core', rule: 'hold', limit: 5000, remaining: 4999, cost: 1 },
    { resource: 'core', remaining: 4999, cost: 0 },
  ]);
});

it('searches are paid from a budget of their own', async () => {
  expect((await readings('label:x'))[0]).toMatchObject({ resource: 'search', limit: 30, remaining: 29 });
});
