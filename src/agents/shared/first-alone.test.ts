import { expect, it, vi } from 'vitest';
import type { AgentSession } from '../../ports/agent.ts';
import { createFirstAlone } from './first-alone.ts';

const SESSION = { sessionId: 's' } as AgentSession;
const NEVER = new AbortController().signal;

it('a start that waits behind the first one is called off at once, and never begins', async () => {
  const startAlone = createFirstAlone();
  let open: (session: AgentSession) => void = () => {};
  const opening = startAlone(() => new Promise((resolve) => (open = resolve)), NEVER);
  const stop = new AbortController();
  const second = vi.fn<() => Promise<AgentSession>>(() => Promise.resolve(SESSION));
  const waiting = startAlone(second, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ kind: 'turn_cancelled' });
  open(SESSION);
  expect(await opening).toBe(SESSION);
  expect(second).not.toHaveBeenCalled();
});

it('the next one begins when the first has failed', async () => {
  const startAlone = createFirstAlone();
  const first = startAlone(() => Promise.reject(new Error('no home')), NEVER);
  const second = startAlone(() => Promise.resolve(SESSION), NEVER);
  await expect(first).rejects.toThrow('no home');
  expect(await second).toBe(SESSION);
});
