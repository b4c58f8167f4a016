import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { WorkerConnection } from '../../../ports/run-queue.ts';
import { StoreError } from '../../../store/errors.ts';
import { REFUSED_MS } from '../refusals.ts';
import { createRunMessages } from './run-messages.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const NOTICE = { notice: { name: 'service:drain:started', facts: {} } } as never;

/** What became of messages that the database answers with this fault. */
function sayInVain(kind: StoreError['kind']) {
  const heard: string[] = [];
  const lost = new AbortController();
  const fault = new StoreError({ path: 'postgres://db', kind, what: 'lacks a right', remedy: 'grant it' });
  let tries = 0;
  const connection = { say: () => ((tries += 1), Promise.reject(fault)) } as unknown as WorkerConnection;
  const messages = createRunMessages(connection, 'r1', lost.signal, {
    onLost: () => heard.push('lost'),
    onRefused: () => heard.push('refused'),
    onGivenUp() {
      heard.push('given up');
      lost.abort();
    },
  });
  messages.add(NOTICE);
  return { heard, lost, messages, tries: () => tries };
}

it('messages that the database refuses are told of once, and given up after a while', async () => {
  const { heard, messages, tries } = sayInVain('unwritable');
  await expect.poll(tries, { timeout: 3_000 }).toBe(2);
  expect(heard).toEqual(['refused']);
  vi.advanceTimersByTime(REFUSED_MS);
  await messages.finish();
  expect(heard).toEqual(['refused', 'given up']);
});

it('messages are said again as long as the database is out of reach', async () => {
  const { heard, lost, messages, tries } = sayInVain('unreachable');
  await expect.poll(tries).toBe(1);
  vi.advanceTimersByTime(REFUSED_MS * 2);
  await expect.poll(tries, { timeout: 3_000 }).toBe(2);
  expect(heard).toEqual([]);
  lost.abort();
  await messages.finish();
});
