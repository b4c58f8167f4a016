import { expect, it } from 'vitest';
import type { Tracker, TrackerOperation } from '../ports/tracker.ts';
import { countRequests } from './counted-tracker.ts';

it.each<[what: string, facts: Partial<Tracker>, operation: TrackerOperation]>([
  ['that reads the project counts as such', {}, 'preflight'],
  ['that is the first page of the first poll counts as that poll', { provesByPoll: true }, 'fetch_candidates'],
])('a preflight %s', async (_, facts, operation) => {
  const counted: TrackerOperation[] = [];
  const tracker = countRequests({ ...facts, preflight: async () => {} } as Tracker, (name, _isLocal, call) => {
    counted.push(name);
    return call();
  });
  await tracker.preflight?.(new AbortController().signal);
  expect(counted).toEqual([operation]);
});
