import { expect, it } from 'vitest';
import { lookRepeatedly } from './repeated-look.ts';

it('looks one after the other, and tells a failure once until a look succeeds', async () => {
  const told: unknown[] = [];
  let [looks, atOnce, most] = [0, 0, 0];
  const looking = lookRepeatedly(
    async () => {
      looks += 1;
      atOnce += 1;
      most = Math.max(most, atOnce);
      const isFailing = looks !== 3;
      await new Promise((resolve) => setTimeout(resolve, 15));
      atOnce -= 1;
      if (isFailing) throw new Error(`look ${looks}`);
    },
    5,
    (fault) => told.push(fault),
  );
  await expect.poll(() => looks).toBeGreaterThan(5);
  await looking.stop();
  expect(atOnce).toBe(0);
  expect(most).toBe(1);
  expect(told.map(String)).toEqual(['Error: look 1', 'Error: look 4']);
});
