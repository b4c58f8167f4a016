import { describe, expect, it } from 'vitest';
import { aWorker } from '../../../../test/support/worker-rows.ts';
import type { WorkerRow } from '../../../ports/run-queue.ts';
import { fleetProblem, shownName, waitIn } from './known-workers.ts';

describe('why no worker could take a run', () => {
  it.each([
    ['none is there', [], 'no worker is there: start one with "foray worker"'],
    ['one of another version', [aWorker('a', { version: '0.2.0' })], 'a: it is version 0.2.0 and the service is 0.1.0'],
    ['one that drains', [aWorker('a', { draining: true })], 'no worker takes runs (a: it takes no more runs)'],
    ['one that was lost', [aWorker('a', { silentMs: 60_000 })], 'no worker is there'],
  ])('%s', (_, workers, text) => {
    expect(fleetProblem(workers, [], '0.1.0')).toContain(text);
  });

  it('names those with the labels only', () => {
    const workers = [aWorker('a', { draining: true }), aWorker('b', { labels: ['gpu'], draining: true })];
    const text = 'no worker with the labels gpu takes runs (b: it takes no more runs): start one with "foray worker"';
    expect(fleetProblem(workers, ['gpu'], '0.1.0')).toBe(text);
    expect(fleetProblem([...workers, aWorker('c', { labels: ['gpu'] })], ['gpu'], '0.1.0')).toBeNull();
  });
});

describe('what a run waits for', () => {
  const holders = new Map([['r1', 'a#1']]);
  const pauses = { operatorPause: null, pauses: [] };
  const facts = { agent: { kind: 'mock', runOn: [] }, pauses, version: '0.1.0' };
  const waits = (workers: readonly WorkerRow[], runOn: readonly string[] | null) =>
    waitIn({ workers, holders }, { ...facts, agent: { kind: 'mock', runOn } })('r2');

  it('is said of one that no worker has', () => {
    expect(waits([aWorker('a', { slots: 1 })], [])).toBe('waits in the queue for a worker: all slots are taken');
    expect(waits([aWorker('a')], ['gpu'])).toBe(
      'waits in the queue for a worker with the labels gpu: no worker with the labels gpu is there: start one with "foray worker"',
    );
    expect(waits([aWorker('a', { slots: 2 })], [])).toContain('about to be given');
  });

  it('is the end of a pause, whatever worker is free', () => {
    const fleet = { workers: [aWorker('a', { slots: 2 })], holders };
    const paused = waitIn(fleet, { ...facts, pauses: { ...pauses, operatorPause: { by: 'ann', reason: '', since: 0 } } });
    expect([paused('r1'), paused('r2')]).toEqual([null, 'waits in the queue: paused by an operator (ann)']);
    const rest = { agentKind: 'mock', until: 1, reason: 'too many' };
    const rests = waitIn(fleet, { ...facts, pauses: { ...pauses, pauses: [rest] } });
    expect(rests('r2')).toBe('waits in the queue: the agent mock rests: too many');
    expect(waitIn(fleet, { ...facts, pauses: { ...pauses, pauses: [{ ...rest, agentKind: 'codex' }] } })('r2')).toContain(
      'about',
    );
  });

  it('is nothing for one that was given to a worker, or is for none', () => {
    expect(waitIn({ workers: [aWorker('a')], holders }, facts)('r1')).toBeNull();
    expect(waits([aWorker('a')], null)).toBeNull();
  });
});

it('workers whose hosts have the same name are shown with their identity', () => {
  const [one, two] = [aWorker('vm#aa', { identity: 'aa' }), aWorker('vm#bb', { identity: 'bb' })];
  expect([shownName(one, [one]), shownName(one, [one, two])]).toEqual(['vm', 'vm#aa']);
});
