import { describe, expect, it } from 'vitest';
import { shareReads } from './shared-read.ts';

const signal = new AbortController().signal;

/** Reads that are answered one by one, in the order they began. */
function heldReads() {
  const open: { resolve(value: string): void; reject(error: Error): void }[] = [];
  const read = shareReads(() => new Promise<string>((resolve, reject) => open.push({ resolve, reject })));
  const begun = async (): Promise<number> => {
    await new Promise((resolve) => setImmediate(resolve));
    return open.length;
  };
  return { read, begun, open };
}

describe('reads for several at once', () => {
  it('share one, and who asks while it is under way gets the next', async () => {
    const { read, begun, open } = heldReads();
    const first = [read(signal), read(signal)];
    expect(await begun()).toBe(1);
    const late = [read(signal), read(signal), read(signal)];
    expect(await begun()).toBe(1);
    open[0]?.resolve('one');
    expect(await Promise.all(first)).toEqual(['one', 'one']);
    expect(await begun()).toBe(2);
    open[1]?.resolve('two');
    expect(await Promise.all(late)).toEqual(['two', 'two', 'two']);
  });

  it('fail together, and the next one is tried all the same', async () => {
    const { read, begun, open } = heldReads();
    const failed = Promise.allSettled([read(signal), read(signal)]);
    await begun();
    const next = read(signal);
    open[0]?.reject(new Error('gone'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await begun();
    open[1]?.resolve('back');
    expect(await next).toBe('back');
  });

  it('let go of who is told to stop, and of nobody else', async () => {
    const { read, begun, open } = heldReads();
    const stopped = new AbortController();
    const [gone, kept] = [read(stopped.signal), read(signal)];
    await begun();
    stopped.abort(new Error('stopped'));
    await expect(gone).rejects.toThrow('stopped');
    open[0]?.resolve('one');
    expect(await kept).toBe('one');
  });
});
