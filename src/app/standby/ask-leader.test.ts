import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../test/support/store/memory.ts';
import { askLeader } from './ask-leader.ts';

const TRACKER = 'file:issues';
const ASKED = { request: { kind: 'unpark', identifier: 'T-1' }, by: 'somebody', tracker: TRACKER } as const;
const NEVER = new AbortController().signal;

it('a request that the leader did not answer in time is refused, and no later leader finds it', async () => {
  const store = createMemoryStore();
  const answer = await askLeader(ASKED, { store, over: NEVER, withinMs: 10 });
  expect(answer).toMatchObject({ outcome: 'refused', message: expect.stringMatching(/did not answer.*taken back/) as string });
  expect(await store.takeRequests([TRACKER])).toEqual([]);
});

it('an answer that came at the last moment is told', async () => {
  const store = createMemoryStore();
  const answer = { outcome: 'taken', message: 'T-1 is released' } as const;
  const slow: typeof store = {
    ...store,
    async withdrawRequest(requestId) {
      await store.apply(TRACKER, [{ write: 'answer', requestId, answer, at: 1 }]);
      return store.withdrawRequest(requestId);
    },
  };
  expect(await askLeader(ASKED, { store: slow, over: NEVER, withinMs: 10 })).toEqual(answer);
});

it('a request that can neither be answered nor taken back is not said to be over', async () => {
  const store = { ...createMemoryStore(), withdrawRequest: () => Promise.reject(new Error('the row is locked')) };
  const answer = await askLeader(ASKED, { store, over: NEVER, withinMs: 10 });
  expect(answer).toMatchObject({ outcome: 'refused', message: expect.stringContaining('may still do it') as string });
});
