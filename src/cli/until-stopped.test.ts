import { describe, expect, it } from 'vitest';
import { untilStopped } from './until-stopped.ts';

const fault = new Error('the disk is full');
const stopped = AbortSignal.abort();
const running = new AbortController().signal;

function daemon(end: () => void): () => Promise<{ stop(): void; done: Promise<void> }> {
  return async () => ({ stop: () => {}, done: Promise.resolve().then(end) });
}

function fail(): never {
  throw fault;
}

describe('a service', () => {
  it.each([
    ['that ends as asked is no failure', daemon(() => {}), running, null],
    ['that is interrupted while it starts is no failure', async () => fail(), stopped, null],
    ['that cannot start has failed', async () => fail(), running, fault],
    ['that fails while it runs has failed', daemon(fail), running, fault],
    ['that fails after it was told to stop has failed', daemon(fail), stopped, fault],
  ])('%s', async (_name, start, interrupted, failure) => {
    expect(await untilStopped(start, interrupted)).toBe(failure);
  });

  it('that was told to stop while it started is stopped once it has', async () => {
    let stops = 0;
    await untilStopped(async () => ({ stop: () => void (stops += 1), done: Promise.resolve() }), stopped);
    expect(stops).toBe(1);
  });
});
