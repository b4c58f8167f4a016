import { describe, expect, it } from 'vitest';
import { createAsk } from './asking.ts';

type Connection = Parameters<typeof createAsk>[0];

/** Answers are stored; what a call of the worker comes back with is lost every other time. */
function createLossyConnection() {
  const stored = new Map<string, { readonly ok: true; readonly value: unknown }>();
  let calls = 0;
  const lossy = <T>(result: T): Promise<T> => {
    calls += 1;
    return calls % 2 === 1 ? Promise.reject(new Error('Connection terminated unexpectedly')) : Promise.resolve(result);
  };
  const connection: Pick<Connection, 'ask' | 'answerTo'> = {
    ask: (_runId, id, request, heard) => {
      for (const answered of heard) stored.delete(answered);
      stored.set(id, { ok: true, value: request.ask });
      return lossy('asked' as const);
    },
    answerTo: (id) => lossy(stored.get(id) ?? null),
  };
  return { connection: connection as Connection, stored };
}

describe('what a run asks of the leader', () => {
  it('is answered although the way to the database breaks after each step, and answers do not pile up', async () => {
    const { connection, stored } = createLossyConnection();
    const ask = createAsk(connection, 'r1', new AbortController().signal);
    const { signal } = new AbortController();
    expect(await ask({ ask: 'state' }, signal)).toEqual({ ok: true, value: 'state' });
    expect(await ask({ ask: 'issue' }, signal)).toEqual({ ok: true, value: 'issue' });
    expect(stored.size).toBe(1);
  });
});
