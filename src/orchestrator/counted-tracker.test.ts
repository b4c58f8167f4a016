import { expect, it } from 'vitest';
import type { Tracker, TrackerOperation } from '../ports/tracker.ts';
import { countRequests } from './counted-tracker.ts';

it.each<[what: string, facts: Partial<Tracker>, operation: TrackerOperation]>([
  ['that reads the project counts as such', {}, 'preflight'],
  ['that is the first page of the first poll counts as that poll', { provesByPoll: true }, 'fetch_candidates'],
])('a preflight %s', async (_, facts, operation) => {
  const counted: TrackerOperation[] = [];
  const tracker = countRequests({ ...facts, preflight: async () => {} } as Tracker, ({ operation: name }, call) => {
    counted.push(name);
    return call();
  });
  await tracker.preflight?.(new AbortController().signal);
  expect(counted).toEqual([operation]);
});

it('tells of itself what the tracker does', () => {
  const facts = { kind: 'nsproject', obeysComments: true, movesInSteps: true, finishedAreCostly: true } as const;
  expect(countRequests({ ...facts } as unknown as Tracker, (_asked, call) => call())).toMatchObject(facts);
});
