import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createWriteQueue } from './write-queue.ts';

/** A source that takes so long for each turn, and the ids that were written in each. */
function slowSource(records: 'one file' | 'files of their own', turnMs: number) {
  const turns: string[][] = [];
  const source = {
    isOneFile: () => records === 'one file',
    async change(edits: readonly { id: string }[]) {
      turns.push(edits.map(({ id }) => id));
      await delay(turnMs);
      return edits.map(() => null);
    },
  };
  return { source, turns };
}

it('writes a change that comes alone at once, and those that come while one is written or rests together', async () => {
  const { source, turns } = slowSource('one file', 20);
  const change = createWriteQueue(source, 'issues.json', () => 'now');
  const signal = AbortSignal.timeout(5_000);
  const write = (id: string): Promise<void> => change(id, { type: 'state', state: 'done' }, signal);
  const writes = [write('1')];
  expect(turns).toEqual([['1']]);
  writes.push(write('2'));
  await writes[0];
  writes.push(write('3'));
  await delay(5);
  expect(turns).toHaveLength(1);
  writes.push(write('4'));
  await Promise.all(writes);
  expect(turns).toEqual([['1'], ['2', '3', '4']]);
});

it('does not rest where each record has a file of its own', async () => {
  const { source, turns } = slowSource('files of their own', 50);
  const change = createWriteQueue(source, 'issues', () => 'now');
  const write = (id: string): Promise<void> => change(id, { type: 'state', state: 'done' }, AbortSignal.timeout(5_000));
  const first = write('1');
  const second = write('2');
  await first;
  await delay(0);
  expect(turns).toEqual([['1'], ['2']]);
  await second;
});
