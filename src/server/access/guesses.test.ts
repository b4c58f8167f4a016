import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGuesses } from './guesses.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp(free: number) {
  const guesses = createGuesses(free, Date.now);
  /** One wrong try; how long it waited, or false where it was sent away. */
  const tries = async (address: string): Promise<number | false> => {
    const from = Date.now();
    const turn = guesses.turn(address);
    const isTaken = await turn;
    if (isTaken) guesses.wrong(address);
    return isTaken && Date.now() - from;
  };
  return { guesses, tries };
}

it('the first wrong ones cost nothing, the next wait for each other, and the rest is sent away', async () => {
  const { tries } = setUp(3);
  for (let count = 0; count < 3; count += 1) expect(await tries('10.0.0.1')).toBe(0);
  const all = Promise.all(Array.from({ length: 10 }, () => tries('10.0.0.1')));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await all).toEqual([0, 1000, 2000, false, false, false, false, false, false, false]);
});

it('nobody waits for the tries of another address', async () => {
  const { tries } = setUp(1);
  await tries('10.0.0.1');
  void tries('10.0.0.1');
  void tries('10.0.0.1');
  expect(await tries('10.0.0.2')).toBe(0);
});

it('all addresses of one IPv6 network are one', async () => {
  const { guesses } = setUp(1);
  guesses.wrong('2001:db8:1:2:3::4');
  await guesses.turn('2001:db8:1:2:ffff::9');
  const second = guesses.turn('2001:db8:1:2::1');
  let isOver = false;
  void second.then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(900);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(isOver).toBe(true);
});

it('a wrong one is forgiven a second later', async () => {
  const { tries } = setUp(2);
  await tries('10.0.0.1');
  await tries('10.0.0.1');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await tries('10.0.0.1')).toBe(0);
  expect(await tries('10.0.0.1')).toBe(0);
});
