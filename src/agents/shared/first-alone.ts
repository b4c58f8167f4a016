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
    while (first !== null) await first.catch(() => {});
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
