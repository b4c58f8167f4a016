import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createWriteQueue } from './write-queue.ts';

/** A source whose turns take as long as they are held up, and the ids that were written in each. */
function slowSource(records: 'one file' | 'files of their own', turn: () => Promise<unknown>) {
  const turns: string[][] = [];
  const source = {
    sharedBytes: () => (records === 'one file' ? 1_000 : 0),
    async change(edits: readonly { id: string }[]) {
      turns.push(edits.map(({ id }) => id));
      await turn();
      return edits.map(() => null);
    },
  };
  return { source, turns };
}

it('writes together what comes at the same time, and what comes while that is written', async () => {
  let goOn = (): void => {};
  const { source, turns } = slowSource('one file', () => new Promise<void>((resolve) => (goOn = resolve)));
  const change = createWriteQueue(source, 'issues.json', () => 'now');
  const { signal } = new AbortController();
  const write = (id: string): Promise<void> => change(id, { type: 'state', state: 'done' }, signal);
  const writes = [write('1'), write('2')];
  await expect.poll(() => turns).toEqual([['1', '2']]);
  writes.push(write('3'));
  await Promise.resolve();
  writes.push(write('4'));
  goOn();
  await expect
    .poll(() => turns)
    .toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  goOn();
  await Promise.all(writes);
});

it.each(['one file', 'files of their own'] as const)(
  'keeps nobody waiting for others that go on coming (%s)',
  async (records) => {
    const { source, turns } = slowSource(records, () => delay(0));
    const change = createWriteQueue(source, 'issues', () => 'now');
    const { signal } = new AbortController();
    const write = (id: number): Promise<void> => change(String(id), { type: 'state', state: 'done' }, signal);
    let written = false;
    const writes = [write(0).then(() => (written = true))];
    for (let id = 1; !written; id += 1) {
      writes.push(write(id).then(() => true));
      await delay(1);
    }
    await Promise.all(writes);
    expect(turns.length).toBeGreaterThan(0);
    expect(turns.flat().map(Number)).toEqual(writes.map((_, id) => id));
  },
);
