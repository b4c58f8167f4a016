import { AgentError, faultOf } from '../../domain/model/errors.ts';
import type { AgentSession, TurnResult } from '../../ports/agent.ts';
import { createEventGate, type EventGate } from './event-gate.ts';
import { takeTurn, type TurnParts } from './turn.ts';

export interface SessionParts extends TurnParts {
  /** Takes secrets out of a text. */
  readonly clean: (text: string) => string;
  /** Ends every process of the session. */
  readonly endProcesses: () => Promise<void>;
}

/** A conversation with one process that lives as long as the session. */
export function createSession(parts: SessionParts): AgentSession {
  const { opened, clean } = parts;
  const stopped = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let turns = 0;

  function introduce(gate: EventGate): void {
    gate.sessionStarted(opened.sessionId, opened.model);
    for (const text of opened.notices) gate.notice(text);
  }

  async function runTurn(prompt: string, gate: EventGate, signal: AbortSignal): Promise<TurnResult> {
    const isFirst = turns === 0;
    turns += 1;
    try {
      if (isFirst) introduce(gate);
      const verdict = await takeTurn(parts, { prompt, gate, isFirst }, signal);
      if (signal.aborted) return await giveUp();
      if (!verdict.ok) return failed(verdict.error);
      if (verdict.notice !== undefined) gate.notice(verdict.notice);
      return { ok: true };
    } finally {
      gate.close();
    }
  }

  /** A turn that was told to stop is cancelled, whatever the agent said meanwhile. */
  async function giveUp(): Promise<TurnResult> {
    await parts.endProcesses();
    return failed(new AgentError({ kind: 'turn_cancelled', detail: 'the turn was told to stop' }));
  }

  function failed(error: AgentError): TurnResult {
    const fault = faultOf(error);
    return { ok: false, fault: { ...fault, message: clean(fault.message) } };
  }

  return {
    sessionId: opened.sessionId,
    hasTools: opened.hasTools,
    runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, stopped.signal]);
      if (either.aborted) return giveUp();
      const result = runTurn(turn.prompt, createEventGate({ onEvent, clean }), either);
      running = result.catch(() => {});
      return result;
    },
    async stop() {
      stopped.abort();
      await running;
      await parts.endProcesses();
    },
  };
}
