import { describe, expect, it, vi } from 'vitest';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { answeredOrTold, checkBeforePolls, proveTracker, startReporters, tellSlowPolls } from './check-tracker.ts';

const signal = new AbortController().signal;
const facts = { method: 'GET', path: '/', detail: 'slow down' } as const;

function check(preflight: () => Promise<void>) {
  const told: string[] = [];
  const tell = (kind: string): void => void told.push(kind);
  return {
    told,
    answer: proveTracker({ kind: 'repoissues', preflight } as unknown as Tracker, tell, { pollMs: 30_000, signal }),
  };
}

it('whoever starts nothing has the tracker answer', async () => {
  const preflight = vi.fn<NonNullable<Tracker['preflight']>>(async () => {});
  await answeredOrTold({ kind: 'repoissues', preflight } as unknown as Tracker, () => {}, signal, { mustAnswer: true });
  expect(preflight).toHaveBeenCalledWith(signal, { mustAnswer: true });
});

it('after a failure that was told, silence is not', () => {
  const told: string[] = [];
  const { tellRetry, tellSilence } = startReporters(({ name }) => void told.push(name));
  tellSilence('repoissues');
  tellRetry({ error: 'status 500', kind: 'tracker_transport_error', retryInMs: 1_000, tries: 1 });
  tellSilence('repoissues');
  expect(told).toEqual(['tracker:answer:awaited', 'tracker:start:failed']);
});

describe('the tracker at start', () => {
  it('that asks to wait postpones the polls instead of ending the start', async () => {
    const limited = new TrackerError({ kind: 'tracker_api_error', ...facts, retryAfterMs: 90_000 });
    await expect(check(() => Promise.reject(limited)).answer).resolves.toMatchObject({
      kind: 'tracker_api_error',
      retryInMs: 90_000,
    });
  });

  it.each([
    ['has a limit and names no time postpones them by one poll', { status: 429 }, 30_000],
    ['has a limit that no status tells does so too', { status: 403, isLimit: true }, 30_000],
  ])('that %s', async (_, limit, retryInMs) => {
    const limited = new TrackerError({ kind: 'tracker_api_error', ...facts, ...limit });
    await expect(check(() => Promise.reject(limited)).answer).resolves.toMatchObject({ retryInMs });
  });

  it('that refuses ends the start', async () => {
    const refused = new TrackerError({ kind: 'tracker_auth_error', ...facts });
    await expect(check(() => Promise.reject(refused)).answer).rejects.toThrow(refused);
  });

  it('whose answer came as rubbish is asked once more, and no further', async () => {
    const garbled = new TrackerError({ kind: 'tracker_payload_error', ...facts, status: 200 });
    const answers = [Promise.reject(garbled), Promise.resolve()];
    await expect(check(() => answers.shift() ?? Promise.reject(garbled)).answer).resolves.toBeNull();
    await expect(check(() => Promise.reject(garbled)).answer).rejects.toThrow(garbled);
  });

  it('that does not answer is told of within a second', async () => {
    vi.useFakeTimers();
    try {
      let answer = (): void => {};
      const { told, answer: checked } = check(() => new Promise<void>((resolve) => (answer = resolve)));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(told).toEqual(['repoissues']);
      answer();
      await expect(checked).resolves.toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the first poll after a start that was asked to wait', () => {
  const limited = new TrackerError({ kind: 'tracker_api_error', ...facts, retryAfterMs: 90_000 });
  const missing = new TrackerError({ kind: 'tracker_not_found', ...facts });

  it('makes the check that the start could not make, and no poll is made without it', async () => {
    const asked: string[] = [];
    const checks = [limited, missing, null, null];
    const tracker = checkBeforePolls({
      kind: 'nsproject',
      preflight: () => {
        asked.push('check');
        const failure = checks.shift();
        return failure ? Promise.reject(failure) : Promise.resolve();
      },
      fetchCandidateIssues: () => Promise.resolve((asked.push('poll'), [])),
    } as unknown as Tracker);
    await expect(tracker.preflight?.(signal)).rejects.toThrow(limited);
    await expect(tracker.fetchCandidateIssues(signal), 'a project that is not there').rejects.toThrow(missing);
    await tracker.fetchCandidateIssues(signal);
    await tracker.fetchCandidateIssues(signal);
    expect(asked).toEqual(['check', 'check', 'check', 'poll', 'poll']);
  });
});

it('slow polls are told of once, and again after a quick one', async () => {
  vi.useFakeTimers();
  const told: string[] = [];
  let takesMs = 3000;
  const fetchCandidateIssues = () => new Promise<readonly []>((resolve) => setTimeout(() => resolve([]), takesMs));
  const tracker = tellSlowPolls({ kind: 'repoissues', fetchCandidateIssues } as unknown as Tracker, (kind) => told.push(kind));
  const poll = async (): Promise<number> => {
    const polled = tracker.fetchCandidateIssues(signal);
    await vi.advanceTimersByTimeAsync(takesMs);
    await polled;
    return told.length;
  };
  try {
    expect([await poll(), await poll()]).toEqual([1, 1]);
    takesMs = 100;
    expect(await poll()).toBe(1);
    takesMs = 3000;
    expect(await poll()).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
