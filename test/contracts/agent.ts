import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/domain/model/agent-event.ts';
import type { Agent, AgentSession, SessionRequest, TurnResult } from '../../src/ports/agent.ts';

/** One agent over a stand-in for its program. */
export interface AgentHarness {
  readonly agent: Agent;
  readonly request: SessionRequest;
  /** Prompts after which the stand-in does something and ends the turn, does nothing, or never ends it. */
  readonly prompts: { readonly work: string; readonly nothing: string; readonly hang: string };
  /** Whether its turns call a tool, and whether it starts programs. */
  readonly has: { readonly tools: boolean; readonly processes: boolean };
  /** The processes of which the agent's host was told. */
  readonly ledger: { readonly started: readonly number[]; readonly ended: readonly number[] };
  close(): Promise<void>;
}

const never = new AbortController().signal;

/** What `Agent` promises, held against one kind. */
export function describeAgent(kind: string, open: () => Promise<AgentHarness>): void {
  describe(`the agent kind ${kind} as an agent`, () => {
    let harness: AgentHarness;
    let session: AgentSession | null = null;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(async () => {
      await session?.stop();
      session = null;
      await harness.close();
    });

    async function start(): Promise<AgentSession> {
      session = await harness.agent.startSession(harness.request, never);
      return session;
    }

    it('has its own name and no problem', async () => {
      expect(harness.agent.kind).toBe(kind);
      expect(await harness.agent.findProblem()).toBeNull();
    });

    it('takes a turn: names the conversation, tells what it does, and says that it went well', async () => {
      const { result, events } = await turn(await start(), harness.prompts.work);
      expect(result).toEqual({ ok: true });
      const named = events.find((event) => event.type === 'session_started');
      expect(named?.sessionId).toBe(session?.sessionId);
      expect(events.some(({ type }) => type === 'message')).toBe(true);
      const started = events.filter((event) => event.type === 'tool_started');
      const ended = events.filter((event) => event.type === 'tool_ended');
      expect(started.length > 0).toBe(harness.has.tools);
      expect(ended.map(({ toolId }) => toolId)).toEqual(started.map(({ toolId }) => toolId));
      for (const call of started) expect(call.input).toMatch(/\S/);
    });

    it('adds its figures up over the turns and never takes any back', async () => {
      const live = await start();
      const first = await turn(live, harness.prompts.work);
      const second = await turn(live, harness.prompts.work, 2);
      const totals = [...first.events, ...second.events].flatMap((event) => (event.type === 'usage' ? [event.tokens] : []));
      expect(totals.length).toBeGreaterThan(1);
      for (const [index, { totalTokens, inputTokens, outputTokens }] of totals.entries()) {
        expect(totalTokens).toBe(inputTokens + outputTokens);
        expect(totalTokens).toBeGreaterThanOrEqual(totals[index - 1]?.totalTokens ?? 0);
      }
    });

    it('never takes a turn without work for one that went well', async () => {
      const { result } = await turn(await start(), harness.prompts.nothing);
      expect(result.ok).toBe(false);
    });

    it('ends a turn that is told to stop, as cancelled and in silence', async () => {
      const controller = new AbortController();
      const live = await start();
      const events: AgentEvent[] = [];
      const running = live.runTurn({ number: 1, prompt: harness.prompts.hang }, (event) => events.push(event), controller.signal);
      await expect.poll(() => events.length, { timeout: 10_000 }).toBeGreaterThan(0);
      controller.abort();
      expect(kindOf(await running)).toBe('turn_cancelled');
      const count = events.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(events).toHaveLength(count);
    });

    it('starts nothing that was called off before', async () => {
      await expect(harness.agent.startSession(harness.request, AbortSignal.abort())).rejects.toThrow();
      const live = await start();
      const events: AgentEvent[] = [];
      const result = await live.runTurn(
        { number: 1, prompt: harness.prompts.work },
        (event) => events.push(event),
        AbortSignal.abort(),
      );
      expect(kindOf(result)).toBe('turn_cancelled');
      expect(events.some(({ type }) => type === 'message')).toBe(false);
    });

    it('ends with every process of it, as often as it is told to, and takes no more turns', async () => {
      const live = await start();
      await turn(live, harness.prompts.work);
      await Promise.all([live.stop(), live.stop()]);
      expect(harness.ledger.started.length > 0).toBe(harness.has.processes);
      expect([...harness.ledger.ended].sort()).toEqual([...harness.ledger.started].sort());
      expect((await turn(live, harness.prompts.work, 2)).result.ok).toBe(false);
    });

    it('begins a new conversation where the old one is lost', async () => {
      const request = { ...harness.request, resumeSessionId: 'of-another-agent' };
      session = await harness.agent.startSession(request, never);
      expect((await turn(session, harness.prompts.work)).result).toEqual({ ok: true });
    });
  });
}

async function turn(session: AgentSession, prompt: string, number = 1): Promise<{ result: TurnResult; events: AgentEvent[] }> {
  const events: AgentEvent[] = [];
  const result = await session.runTurn({ number, prompt }, (event) => events.push(event), never);
  return { result, events };
}

function kindOf(result: TurnResult): string {
  return result.ok ? 'ok' : result.fault.kind;
}
