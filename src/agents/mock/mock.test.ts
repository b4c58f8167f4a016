import { describe, expect, it } from 'vitest';
import { settingsWith } from '../../../test/support/settings.ts';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import type { Agent, SessionRequest } from '../../ports/agent.ts';
import { agentKind } from './index.ts';
import { optionsSchema, OUTCOME_ERRORS } from './options.ts';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const signal = new AbortController().signal;
const request: SessionRequest = {
  runId: 'r',
  issueId: '1',
  issueIdentifier: 'A-1',
  workspacePath: '/nowhere',
  resumeSessionId: null,
  toolServer: null,
};

function createMock(options: Record<string, unknown> = {}, processes = { started: () => {}, ended: () => {} }): Agent {
  return agentKind.create(settingsWith().agent, optionsSchema().parse(options), {
    env: {},
    clock: { now: () => 1_000 },
    logger: SILENT,
    processes,
  });
}

async function turn(agent: Agent, parts: Partial<SessionRequest> = {}, abort = signal) {
  const events: AgentEvent[] = [];
  const session = await agent.startSession({ ...request, ...parts }, signal);
  const result = await session.runTurn({ number: 1, prompt: 'x' }, (event) => events.push(event), abort);
  return { session, result, events };
}

describe('mock', () => {
  it('numbers its sessions', async () => {
    const agent = createMock();
    expect((await turn(agent)).session.sessionId).toBe('mock-session-1');
    expect((await turn(agent)).session.sessionId).toBe('mock-session-2');
  });

  it('goes on counting when it is built anew, as after an edit of its settings', async () => {
    const processes = { started: () => {}, ended: () => {} };
    const before = createMock({}, processes);
    expect((await turn(before)).session.sessionId).toBe('mock-session-1');
    expect((await turn(createMock({ model: 'm' }, processes))).session.sessionId).toBe('mock-session-2');
    expect((await turn(before)).session.sessionId).toBe('mock-session-3');
  });

  it('reports figures that grow over the session', async () => {
    const agent = createMock({ model: 'm', cache_read_tokens_per_turn: 10 });
    const session = await agent.startSession(request, signal);
    const usages: AgentEvent[] = [];
    for (const number of [1, 2]) {
      await session.runTurn({ number, prompt: 'x' }, (event) => void (event.type === 'usage' && usages.push(event)), signal);
    }
    expect(usages).toMatchObject([
      { tokens: { inputTokens: 100, outputTokens: 50, totalTokens: 150, cacheReadTokens: 10 }, requests: 1 },
      { tokens: { totalTokens: 300, cacheReadTokens: 20 }, requests: 2, requestsByModel: { m: 2 } },
    ]);
  });

  it('tells the start of its session once', async () => {
    const session = await createMock({}).startSession(request, signal);
    const types: string[] = [];
    for (const number of [1, 2]) await session.runTurn({ number, prompt: 'x' }, ({ type }) => void types.push(type), signal);
    expect(types.filter((type) => type === 'session_started')).toHaveLength(1);
  });

  it('tells tool calls as the real ones do', async () => {
    const { events } = await turn(createMock({ tool_calls_per_turn: 1 }));
    expect(events).toMatchObject([
      { type: 'session_started' },
      { type: 'tool_started', toolId: 'mock-1-1', name: 'Bash', input: 'echo mock-1-1' },
      { type: 'tool_ended', toolId: 'mock-1-1', ok: true, output: 'mock-1-1' },
      { type: 'message' },
      { type: 'usage' },
    ]);
  });

  it.each(Object.entries(OUTCOME_ERRORS))('outcome %s is %s', async (outcome, kind) => {
    const { result } = await turn(createMock({ outcomes: [outcome] }));
    expect(result).toMatchObject({ ok: false, fault: { kind } });
  });

  it('gives out outcomes of an issue first, then the shared ones, then completes', async () => {
    const agent = createMock({ outcomes: ['failed'], outcomes_by_issue: { 'A-1': ['exited'] } });
    const outcomes = [await turn(agent), await turn(agent), await turn(agent)];
    expect(outcomes.map(({ result }) => (result.ok ? 'ok' : result.fault.kind))).toEqual(['agent_exited', 'turn_failed', 'ok']);
  });

  it('says when a usage limit lifts', async () => {
    const { result } = await turn(createMock({ outcomes: ['usage_limit'], usage_limit_resets_in_ms: 500 }));
    expect(result).toMatchObject({ fault: { consequence: 'pause-agent', resetsAt: 1_500 } });
  });

  it('hangs until it is told to stop', async () => {
    const abort = new AbortController();
    const hanging = turn(createMock({ outcomes: ['hang'] }), {}, abort.signal);
    setImmediate(() => abort.abort());
    expect((await hanging).result).toMatchObject({ ok: false, fault: { kind: 'turn_cancelled' } });
  });

  it('fails to start when told so', async () => {
    await expect(turn(createMock({ start_error: 'no luck' }))).rejects.toThrow('agent: agent_exited: no luck');
  });
});
