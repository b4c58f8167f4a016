import { describe, expect, it } from 'vitest';
import { createEndedLogins } from './ended-logins.ts';

describe('ended logins', () => {
  it('are remembered until they would be over by themselves', () => {
    let now = 0;
    const ended = createEndedLogins(() => now);
    ended.add('a', 1_000);
    expect(ended.has('a')).toBe(true);
    now = 1_000;
    ended.add('b', 2_000);
    expect([ended.has('a'), ended.has('b')]).toEqual([false, true]);
  });

  it('are forgotten when there are very many, the oldest first', () => {
    const ended = createEndedLogins(() => 0);
    for (let count = 0; count <= 10_000; count += 1) ended.add(String(count), 1_000);
    expect([ended.has('0'), ended.has('1'), ended.has('10000')]).toEqual([false, true, true]);
  });
});
