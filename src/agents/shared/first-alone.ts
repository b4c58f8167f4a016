import type { AgentSession } from '../../ports/agent.ts';
import { cancelled } from './failures.ts';

/** Starts sessions; the first one alone. */
export type StartAlone = (start: () => Promise<AgentSession>, signal: AbortSignal) => Promise<AgentSession>;

/**
 * Programs set their home up when they first run there (Codex and codex-acp do), and two that do so at once break each
 * other. So sessions start one after the other until one has been opened.
 */
export function createFirstAlone(): StartAlone {
  let isSetUp = false;
  let first: Promise<AgentSession> | null = null;
  return async (start, signal) => {
    while (first !== null && !signal.aborted) await waitFor(first, signal);
    if (signal.aborted) throw cancelled();
    if (isSetUp) return start();
    first = start();
    try {
      const session = await first;
      isSetUp = true;
      return session;
    } finally {
      first = null;
    }
  };
}

/** Until the start has ended, one way or the other, or nobody waits for it any more. */
async function waitFor(start: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true, signal: over.signal }));
  await Promise.race([start.catch(() => {}), aborted]);
  over.abort();
}
