import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Notice } from '../../domain/model/notice.ts';
import { createNotices } from '../../orchestrator/notices.ts';
import { whenQuiet } from './warm-up.ts';

const SOMETHING = { name: 'poll:tick:begun', facts: {} } as never as Notice;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function steps(count: number) {
  const notices = createNotices(() => {});
  const done: number[] = [];
  const stop = whenQuiet(
    notices,
    Array.from({ length: count }, (_, index) => async () => void done.push(index)),
  );
  /** Something happens every tenth of a second. */
  const busyFor = async (ms: number): Promise<void> => {
    for (let past = 0; past < ms; past += 100) {
      notices.announce(SOMETHING);
      await vi.advanceTimersByTimeAsync(100);
    }
  };
  return { done, stop, busyFor };
}

describe('what is loaded after the start', () => {
  it('comes piece by piece a second later', async () => {
    const { done } = steps(3);
    await vi.advanceTimersByTimeAsync(990);
    expect(done).toEqual([]);
    await vi.advanceTimersByTimeAsync(15);
    expect(done).toEqual([0]);
    await vi.advanceTimersByTimeAsync(50);
    expect(done).toEqual([0, 1, 2]);
  });

  it('waits while something happens, but not for ever', async () => {
    const { done, busyFor } = steps(2);
    await busyFor(4_900);
    expect(done).toEqual([]);
    await busyFor(300);
    expect(done).toEqual([0, 1]);
  });

  it('comes as soon as nothing happens any more', async () => {
    const { done, busyFor } = steps(1);
    await busyFor(2_000);
    await vi.advanceTimersByTimeAsync(300);
    expect(done).toEqual([0]);
  });

  it('goes no further when it is told to end during a piece', async () => {
    const done: string[] = [];
    let end = (): void => {};
    const stop = whenQuiet(
      createNotices(() => {}),
      [
        () => new Promise<void>((resolve) => (end = resolve)).then(() => void done.push('first')),
        async () => void done.push('second'),
      ],
    );
    await vi.advanceTimersByTimeAsync(1_000);
    const stopped = Promise.resolve(stop()).then(() => void done.push('stopped'));
    await vi.advanceTimersByTimeAsync(1_000);
    end();
    await stopped;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(done).toEqual(['first', 'stopped']);
  });

  it('ends when it is told to, and goes on when a piece is missing', async () => {
    const { done, stop } = steps(1);
    await stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(done).toEqual([]);
    const loads: string[] = [];
    whenQuiet(
      createNotices(() => {}),
      [() => Promise.reject(new Error('a part is missing')), async () => void loads.push('second')],
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(loads).toEqual(['second']);
  });
});
