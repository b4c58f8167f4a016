import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import type { Agent, AgentSession } from '../../ports/agent.ts';
import { createListener, createStage, type Stage } from '../../../test/support/acp/scripted-agent.ts';

let stage: Stage;
let session: AgentSession | null = null;
beforeEach(async () => {
  stage = await createStage();
});
afterEach(async () => {
  await session?.stop();
  expect(stage.ledger.ended).toEqual(stage.ledger.started.map(([pid]) => pid));
  await stage.remove();
});

const never = new AbortController().signal;
const listener = createListener;

async function open(agent: Agent): Promise<AgentSession> {
  session = await agent.startSession(stage.request(), never);
  return session;
}

/** Takes one turn of an agent whose prompt handler is this. */
async function turnOf(handler: string, options = {}) {
  const live = await open(await stage.agent(`handlers['session/prompt'] = ${handler};`, options));
  const heard = listener();
  const result = await live.runTurn({ number: 1, prompt: 'go' }, heard.hear, never);
  return { result, ...heard };
}

const END = `{ stopReason: 'end_turn' }`;

describe('turns', () => {
  it('go through one process and add up what they spend', async () => {
    const live = await open(
      await stage.agent(`let turn = 0; handlers['session/prompt'] = ({ prompt }) => {
        turn += 1;
        say('turn ' + turn + ': ' + prompt[0].text);
        const inputTokens = [10, 30, 5][turn - 1];
        return { stopReason: 'end_turn', usage: { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 } };
      }; info.name = 'OpenCode';`),
    );
    const { events, hear, texts } = listener();
    for (const number of [1, 2, 3]) {
      expect(await live.runTurn({ number, prompt: `prompt ${number}` }, hear, never)).toEqual({ ok: true });
    }
    expect(texts('message')).toEqual(['turn 1: prompt 1', 'turn 2: prompt 2', 'turn 3: prompt 3']);
    expect(events.flatMap((event) => (event.type === 'usage' ? [event.tokens.totalTokens] : []))).toEqual([11, 42, 48]);
    expect(events.filter(({ type }) => type === 'session_started')).toHaveLength(1);
    expect(stage.ledger.started).toHaveLength(1);
  });

  it.each([
    ['adds figures up that may be of a turn where agent.max_tokens has to hold', 'scripted', { maxTokens: 100 }, [11, 32, 63]],
    ['adds them up where agent.max_cost_usd has to hold', 'scripted', { maxCostUsd: 1 }, [11, 32, 63]],
    ['takes the highest without a ceiling', 'scripted', {}, [11, 21, 31]],
    ['takes the highest of an agent that is known to count all turns', 'Copilot', { maxTokens: 100 }, [11, 21, 31]],
  ])('%s', async (_name, name, ceiling, counted) => {
    const script = `let input = 0; handlers['session/prompt'] = () => {
        say('work');
        input += 10;
        return { stopReason: 'end_turn', usage: { inputTokens: input, outputTokens: 1, totalTokens: input + 1 } };
      }; info.name = '${name}';`;
    const live = await open(await stage.agent(script, {}, ceiling));
    const { events, hear, texts } = listener();
    for (const number of [1, 2, 3]) await live.runTurn({ number, prompt: 'go' }, hear, never);
    expect(events.flatMap((event) => (event.type === 'usage' ? [event.tokens.totalTokens] : []))).toEqual(counted);
    const isAddedUp = counted[2] === 63;
    expect(texts('notice')).toEqual(
      isAddedUp ? [expect.stringMatching(/its figures are added up, so that agent\.max_\w+ holds$/)] : [],
    );
  });

  it('do not take what came between them for their own work', async () => {
    const live = await open(
      await stage.agent(`let turn = 0; handlers['session/prompt'] = async () => {
        turn += 1;
        if (turn === 1) { say('work'); setTimeout(() => { say('late words'); writeFileSync('said', 'yes'); }, 1); }
        return ${END};
      };`),
    );
    const { hear } = listener();
    expect(await live.runTurn({ number: 1, prompt: 'x' }, hear, never)).toEqual({ ok: true });
    await expect.poll(() => stage.read('said').catch(() => '')).toBe('yes');
    expect(await live.runTurn({ number: 2, prompt: 'x' }, hear, never)).toMatchObject({ fault: { kind: 'agent_did_nothing' } });
  });

  it.each([
    ['end_turn without work', `() => (${END})`, 'agent_did_nothing'],
    ['a refusal', `() => ({ stopReason: 'refusal' })`, 'agent_refused'],
    ['max_tokens', `() => { say('x'); return { stopReason: 'max_tokens' }; }`, 'turn_failed'],
    ['cancelled by itself', `() => { say('x'); return { stopReason: 'cancelled' }; }`, 'turn_failed'],
    ['an unknown reason', `() => { say('x'); return { stopReason: 'tired' }; }`, 'turn_failed'],
    ['no reason', `() => { say('x'); return {}; }`, 'agent_protocol_error'],
    ['nothing', `() => { say('x'); return null; }`, 'agent_protocol_error'],
    ['an error', `() => { say('x'); fail(-32603, 'model broke'); }`, 'turn_failed'],
    ['an error that asks for a login', `() => fail(-32000, 'Authentication required')`, 'agent_not_logged_in'],
    ['an error of a limit', `() => fail(-32603, 'x', { errorKind: 'rate_limit' })`, 'agent_usage_limit'],
    ['its end', `() => { say('x'); console.error('out of memory'); process.exit(134); }`, 'agent_exited'],
    ['an answer too long to be read', `() => ({ stopReason: 'end_turn', more: 'x'.repeat(4_300_000) })`, 'agent_protocol_error'],
  ])('that end with %s fail', async (_name, handler, kind) => {
    const { result } = await turnOf(handler);
    expect(result).toMatchObject({ ok: false, fault: { kind } });
  });

  it('that are cut short by the agent count with a notice', async () => {
    const { result, texts } = await turnOf(`() => { say('x'); return { stopReason: 'max_turn_requests' }; }`);
    expect(result).toEqual({ ok: true });
    expect(texts('notice')).toEqual([expect.stringContaining('limit of model requests')]);
  });

  it('tell the last words of an agent that ended, and fail after it too', async () => {
    const { result } = await turnOf(`() => { console.error('out of memory'); process.exit(134); }`);
    const fault = { kind: 'agent_exited', message: 'agent: agent_exited: the agent ended with exit code 134: out of memory' };
    expect(result).toMatchObject({ fault });
    expect(await session?.runTurn({ number: 2, prompt: 'x' }, () => {}, never)).toMatchObject({ fault });
  });

  it('count what the requests of a failed turn held', async () => {
    const { events } = await turnOf(`() => {
      update({ sessionUpdate: 'usage_update', used: 1000, size: 2 });
      update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'x', status: 'completed' });
      update({ sessionUpdate: 'usage_update', used: 1200, size: 2 });
      fail(-32603, 'model broke');
    }`);
    expect(events.filter(({ type }) => type === 'usage')).toMatchObject([
      { estimatedTokens: 1000, tokens: { totalTokens: 0 } },
      { estimatedTokens: 2200, tokens: { totalTokens: 0 } },
      { tokens: { inputTokens: 2200, totalTokens: 2200 } },
    ]);
  });

  it('count what a failed turn has cost', async () => {
    const { events } = await turnOf(`() => {
      update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.25, currency: 'USD' } });
      fail(-32603, 'model broke');
    }`);
    expect(events.at(-1)).toMatchObject({ type: 'usage', costUsd: 0.25 });
  });

  it('are done once they were answered, also where the service stops while a cost is waited for', async () => {
    const live = await open(
      await stage.agent(`handlers['session/prompt'] = () => {
        say('did it');
        setTimeout(() => update({ sessionUpdate: 'tool_call', toolCallId: 'late', title: 'late', kind: 'read' }), 1);
        return { stopReason: 'end_turn' };
      };`),
    );
    const stop = new AbortController();
    // What comes after the answer shows that the cost is waited for by now.
    const hear = ({ type }: AgentEvent): void => void (type === 'tool_started' && stop.abort());
    expect(await live.runTurn({ number: 1, prompt: 'go' }, hear, stop.signal)).toEqual({ ok: true });
  });

  it('count a cost that is told a moment after their answer, each with its turn', async () => {
    const live = await open(
      await stage.agent(`let turn = 0; handlers['session/prompt'] = () => {
        turn += 1;
        const cost = { amount: 0.2 * turn, currency: 'USD' };
        setTimeout(() => update({ sessionUpdate: 'usage_update', used: 10, size: 20, cost }), 20);
        say('did it');
        return { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 } };
      };`),
    );
    for (const number of [1, 2]) {
      const { events, hear } = listener();
      expect(await live.runTurn({ number, prompt: 'go' }, hear, never)).toEqual({ ok: true });
      expect(events.at(-1)).toMatchObject({ type: 'usage', costUsd: 0.2 * number, costIsSettled: true });
    }
  });

  it('go on after lines that are no messages', async () => {
    const { result, texts } = await turnOf(`() => {
      process.stdout.write('warning: something\\n{"jsonrpc":"2.0","method":"session/upd\\n[1]\\n\\n' + 'x'.repeat(4_300_000) + '\\n');
      say('still here');
      return ${END};
    }`);
    expect(result).toEqual({ ok: true });
    expect(texts('notice').map((text) => text.slice(0, 70))).toEqual([
      'a line of the agent was left out, it is damaged: warning: something',
      'a line of the agent was left out, it is damaged: {"jsonrpc":"2.0","met',
      'a line of the agent was left out, it is damaged: [1]',
      `a line of the agent was left out, it is too long: ${'x'.repeat(20)}`,
    ]);
  });
});

describe('what the agent asks', () => {
  const asking = (kinds: readonly string[]) => `async () => {
    const options = ${JSON.stringify(kinds)}.map((kind) => ({ kind, optionId: 'id ' + kind, name: kind }));
    const toolCall = { toolCallId: 't1', title: 'Write hello.txt', kind: 'edit', status: 'pending' };
    const { result } = await ask('session/request_permission', { sessionId: 's1', options, toolCall });
    say('answer: ' + JSON.stringify(result));
    return ${END};
  }`;

  it('is allowed by default, and the tool counts from then on', async () => {
    const { result, events } = await turnOf(asking(['allow_always', 'allow_once', 'reject_once']));
    expect(result).toEqual({ ok: true });
    expect(events.slice(1)).toEqual([
      { type: 'tool_started', toolId: 't1', name: 'Write hello.txt' },
      { type: 'message', text: 'answer: {"outcome":{"outcome":"selected","optionId":"id allow_once"}}' },
      // The agent never said how it ended.
      { type: 'tool_ended', toolId: 't1', name: 'Write hello.txt', ok: false },
    ]);
  });

  it('is denied where the operator says so, with a notice, and is no work', async () => {
    const { result, events, texts } = await turnOf(asking(['allow_once', 'reject_always']), { permission: 'deny' });
    expect(result).toMatchObject({
      fault: {
        kind: 'agent_needs_person',
        message: expect.stringContaining('permission was denied for Write hello.txt and nothing else was done') as unknown,
      },
    });
    expect(texts('notice')).toEqual(['permission denied: Write hello.txt']);
    expect(texts('message')).toEqual(['answer: {"outcome":{"outcome":"selected","optionId":"id reject_always"}}']);
    expect(events).toContainEqual({ type: 'tool_ended', toolId: 't1', name: 'Write hello.txt', ok: false });
  });

  it.each([
    ['allow', ['reject_once']],
    ['deny', ['allow_once']],
    ['allow', []],
  ])('needs a person when it is to be answered with %s and offers %j', async (permission, kinds) => {
    const { result } = await turnOf(asking(kinds), { permission });
    expect(result).toMatchObject({
      fault: {
        kind: 'agent_needs_person',
        message: expect.stringContaining(`"Write hello.txt" and offered no way to ${permission}`) as unknown,
      },
    });
    const heard = await stage.heard();
    expect(heard.find(({ id, method }) => id === 1 && method === undefined)).toMatchObject({
      result: { outcome: { outcome: 'cancelled' } },
    });
    expect(heard).toContainEqual({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } });
  });

  it.each(['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'elicitation/create', '_vendor/thing'])(
    'is not offered and the turn goes on: %s',
    async (method) => {
      const { result, texts } = await turnOf(`async () => {
        const { error } = await ask('${method}', { sessionId: 's1', path: '/etc/passwd' });
        say('code ' + error.code);
        return ${END};
      }`);
      expect(result).toEqual({ ok: true });
      expect(texts('message')).toEqual(['code -32601']);
      expect(texts('notice')).toEqual([`the agent asked for ${method}, which is not offered`]);
    },
  );

  it('is answered also when it is no permission request, or too long', async () => {
    const { result, texts } = await turnOf(`async () => {
      const first = await ask('session/request_permission', 'nonsense');
      const second = await ask('session/request_permission', { options: [], toolCall: { rawInput: 'x'.repeat(4_300_000) } });
      say(first.error.code + ' ' + second.error.code);
      return ${END};
    }`);
    expect(result).toEqual({ ok: true });
    expect(texts('message')).toEqual(['-32602 -32600']);
  });

  it('is answered between turns too', async () => {
    const live = await open(
      await stage.agent(`handlers['session/prompt'] = async () => {
        setTimeout(async () => {
          const { result } = await ask('session/request_permission', { sessionId: 's1', options: [{ kind: 'allow_once', optionId: 'a', name: 'a' }] });
          writeFileSync('answer', JSON.stringify(result));
        }, 1);
        say('x');
        return ${END};
      };`),
    );
    expect(await live.runTurn({ number: 1, prompt: 'x' }, () => {}, never)).toEqual({ ok: true });
    await expect.poll(() => stage.read('answer').catch(() => '')).toBe('{"outcome":{"outcome":"selected","optionId":"a"}}');
  });
});
