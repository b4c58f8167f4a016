import { beforeEach, describe, expect, it } from 'vitest';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { withRetries } from './retry.ts';

const never = new AbortController().signal;
const failure = (kind: TrackerErrorKind): TrackerError => new TrackerError({ kind, method: 'GET', path: '/', detail: 'x' });

function failing(kinds: TrackerErrorKind[]) {
  let calls = 0;
  const run = (): Promise<string> => {
    const kind = kinds[calls];
    calls += 1;
    return kind ? Promise.reject(failure(kind)) : Promise.resolve('fine');
  };
  return { run, calls: () => calls };
}

const told: unknown[] = [];
const retries = (delaysMs: readonly number[]) => ({
  delaysMs,
  deps: { logger: { warn: (_message: string, facts?: object) => void told.push(facts) } },
});
beforeEach(() => told.splice(0));

describe('withRetries', () => {
  it('tries again while a failure may heal', async () => {
    const { run, calls } = failing(['tracker_transport_error', 'tracker_api_error']);
    expect(await withRetries(run, retries([1, 1, 1]), never)).toBe('fine');
    expect(calls()).toBe(3);
    expect(told).toEqual([{ error: 'tracker: tracker_transport_error: GET /: x' }]);
  });

  it('tells whoever listens of each failure, and when it tries again', async () => {
    const { run } = failing(['tracker_transport_error', 'tracker_api_error']);
    const { deps, ...rest } = retries([1, 2, 4]);
    await withRetries(run, { ...rest, deps: { ...deps, tellRetry: (failed) => void told.push(failed) } }, never);
    expect(told).toEqual([
      { error: 'tracker: tracker_transport_error: GET /: x', kind: 'tracker_transport_error', retryInMs: 1, tries: 1 },
      { error: 'tracker: tracker_api_error: GET /: x', kind: 'tracker_api_error', retryInMs: 2, tries: 2 },
    ]);
  });

  it('gives up after the last delay', async () => {
    const { run, calls } = failing(Array.from({ length: 9 }, () => 'tracker_transport_error' as const));
    await expect(withRetries(run, retries([1, 1, 1]), never)).rejects.toThrow('tracker_transport_error');
    expect(calls()).toBe(4);
  });

  it('does not repeat what cannot heal', async () => {
    const { run, calls } = failing(['tracker_auth_error']);
    await expect(withRetries(run, retries([1]), never)).rejects.toThrow('tracker_auth_error');
    expect(calls()).toBe(1);
  });

  it('stops waiting on an abort, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('stopping');
    const run = (): Promise<never> => {
      queueMicrotask(() => controller.abort(reason));
      return Promise.reject(failure('tracker_transport_error'));
    };
    await expect(withRetries(run, retries([600_000]), controller.signal)).rejects.toBe(reason);
  });

  it('waits as long as the remote asks', async () => {
    let calls = 0;
    const started = performance.now();
    await withRetries(
      () => {
        calls += 1;
        const asked = new TrackerError({ kind: 'tracker_api_error', method: 'GET', path: '/', detail: 'x', retryAfterMs: 60 });
        return calls === 1 ? Promise.reject(asked) : Promise.resolve();
      },
      retries([1]),
      never,
    );
    expect(performance.now() - started).toBeGreaterThan(50);
  });
});
