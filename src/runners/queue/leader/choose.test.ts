import { describe, expect, it } from 'vitest';
import { aWorker } from '../../../../test/support/worker-rows.ts';
import type { WorkerRow } from '../../../ports/run-queue.ts';
import { chooseWorker, hasTwin, isCompatible, skewText } from './choose.ts';

const ANY = { labels: [], holder: null };

function chosen(
  workers: readonly WorkerRow[],
  wish: Partial<Parameters<typeof chooseWorker>[2]> = {},
  runs: Record<string, number> = {},
  turns: Record<string, number> = {},
) {
  const given = { runsOf: (id: string) => runs[id] ?? 0, lastTurnOf: (id: string) => turns[id] ?? 0 };
  return chooseWorker(workers, given, { ...ANY, ...wish })?.name ?? null;
}

describe('who takes a run', () => {
  it('is the holder of its workspace, else the one with the most free slots', () => {
    const workers = [aWorker('a', { slots: 4 }), aWorker('b')];
    expect(chosen(workers)).toBe('a');
    expect(chosen(workers, {}, { 'a#1': 3 })).toBe('b');
    expect(chosen(workers, { holder: 'b' })).toBe('b');
    expect(chosen(workers, { holder: 'b' }, { 'b#1': 2 })).toBe('a');
  });

  it('is each in turn where they are alike', () => {
    const workers = [aWorker('a'), aWorker('b'), aWorker('c')];
    expect(chosen(workers, {}, {}, { 'a#1': 3, 'b#1': 1, 'c#1': 2 })).toBe('b');
    expect(chosen(workers, {}, { 'b#1': 1 }, { 'a#1': 3, 'b#1': 1, 'c#1': 2 })).toBe('c');
  });

  it.each([
    ['full', { slots: 0 }],
    ['silent for a while', { silentMs: 10_000 }],
    ['about to leave', { draining: true }],
    ['without one of the labels', { labels: ['gpu'] }],
  ])('is never one that is %s', (_, parts) => {
    expect(chosen([aWorker('a', { labels: ['gpu', 'big'], ...parts })], { labels: ['gpu', 'big'] })).toBeNull();
  });
});

it('of two with one name, the second has a twin, unless both have the same workspaces', () => {
  const [first, second] = [aWorker('a'), aWorker('a', { id: 'a#2', identity: 'other' })];
  expect([hasTwin(first, [first, second]), hasTwin(second, [first, second])]).toEqual([false, true]);
  const restarted = aWorker('a', { id: 'a#2' });
  expect(hasTwin(restarted, [first, restarted])).toBe(false);
  expect(hasTwin(second, [{ ...first, silentMs: 10_000 }, second])).toBe(false);
});

it('versions of one line understand each other', () => {
  expect(isCompatible('0.1.0', '0.1.9')).toBe(true);
  expect(isCompatible('0.2.0', '0.1.0')).toBe(false);
  expect(skewText('0.2.0', '0.1.0')).toBe('it is version 0.2.0 and the service is 0.1.0: install the same version on both');
});
