import { expect, it, vi } from 'vitest';
import { createLook } from './file-access.ts';

/** A drive that answers when it is told to. */
function slowDrive() {
  const waiting: { resolve(found: string): void; reject(error: Error): void }[] = [];
  const atOnce = vi.fn<(file: string) => string>((file) => `${file} at once`);
  const throughPool = vi.fn<(file: string) => Promise<string>>(
    () => new Promise((resolve, reject) => void waiting.push({ resolve, reject })),
  );
  return { waiting, atOnce, throughPool, look: createLook({ atOnce, throughPool }) };
}

it('asks a drive once for all who look meanwhile, and none of them waits on it before it has answered', async () => {
  const { waiting, atOnce, throughPool, look } = slowDrive();
  const looks = ['a', 'b', 'c'].map(async (file) => look(file));
  await Promise.resolve();
  expect(throughPool.mock.calls).toEqual([['a']]);
  expect(atOnce).not.toHaveBeenCalled();
  waiting[0]?.resolve('a through the pool');
  expect(await Promise.all(looks)).toEqual(['a through the pool', 'b at once', 'c at once']);
  expect(throughPool).toHaveBeenCalledTimes(1);
});

it('tells each of its own file where the first one could not be looked at', async () => {
  const { waiting, atOnce, throughPool, look } = slowDrive();
  const looks = ['a', 'b', 'c'].map(async (file) => look(file));
  waiting[0]?.reject(new Error('a is gone'));
  await expect(looks[0]).rejects.toThrow('a is gone');
  await expect.poll(() => throughPool.mock.calls).toEqual([['a'], ['b'], ['c']]);
  for (const [index, file] of ['a', 'b', 'c'].entries()) waiting[index]?.resolve(`${file} through the pool`);
  expect(await Promise.all(looks.slice(1))).toEqual(['b through the pool', 'c through the pool']);
  expect(atOnce).not.toHaveBeenCalled();
});
