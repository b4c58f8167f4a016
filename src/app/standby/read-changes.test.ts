import { expect, it } from 'vitest';
import type { HostView } from '../../ports/runner.ts';
import { createChanges } from './read-changes.ts';

const WORKER: HostView = {
  name: 'w-1',
  kind: 'worker',
  labels: [],
  slots: 1,
  running: 0,
  load: 0.1,
  version: null,
  heardAt: 1,
  problem: null,
};

it('tells of a reading that is not the one before; that a worker lives is no news', () => {
  const changes = createChanges();
  let told = 0;
  const stop = changes.whenChanged(() => (told += 1));
  const tellsOf = (reading: Parameters<typeof changes.compare>[0]): boolean => {
    const before = told;
    changes.compare(reading);
    return told > before;
  };
  expect(tellsOf({ runs: [], hosts: [WORKER] })).toBe(true);
  expect(tellsOf({ runs: [], hosts: [{ ...WORKER }] })).toBe(false);
  expect(tellsOf({ runs: [], hosts: [{ ...WORKER, load: 0.2, heardAt: 2 }] })).toBe(false);
  expect(tellsOf({ runs: [], hosts: [{ ...WORKER, running: 1 }] })).toBe(true);
  expect(tellsOf({ runs: [{ id: 'r-1', turns: 1 }], hosts: [{ ...WORKER, running: 1 }] })).toBe(true);
  expect(tellsOf({ runs: [{ id: 'r-1', turns: 1 }], hosts: [{ ...WORKER, running: 1 }] })).toBe(false);
  stop();
  expect(tellsOf({ runs: [], hosts: [] })).toBe(false);
});
