import { expect, it } from 'vitest';
import { onceLoaded } from './once.ts';

it('loads once for all who ask, and again after a failure', async () => {
  const loads: ((value: string) => void)[] = [];
  const failing = new Error('EMFILE');
  let isFailing = true;
  const load = onceLoaded(() => (isFailing ? Promise.reject(failing) : new Promise<string>((resolve) => loads.push(resolve))));
  const before = [load(), load()];
  expect(before[0]).toBe(before[1]);
  await expect(before[0]).rejects.toBe(failing);
  isFailing = false;
  const after = [load(), load()];
  loads[0]?.('loaded');
  expect(await Promise.all([...after, load()])).toEqual(['loaded', 'loaded', 'loaded']);
  expect(loads).toHaveLength(1);
});
