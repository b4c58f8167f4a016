import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { processStartTime } from '../../lib/process-identity.ts';
import type { AgentSession } from '../../ports/agent.ts';
import { createListener, createStage, type Stage } from '../../../test/support/acp/scripted-agent.ts';
import { heldMb } from '../../../test/support/held-memory.ts';

let stage: Stage;
let session: AgentSession | null = null;
beforeEach(async () => {
  stage = await createStage();
});
afterEach(async () => {
  await session?.stop();
  session = null;
  expect(stage.ledger.ended.sort()).toEqual(stage.ledger.started.map(([pid]) => pid).sort());
  await stage.remove();
});

const never = new AbortController().signal;
const CANCELLED = { ok: false, fault: { kind: 'turn_cancelled', message: 'agent: turn_cancelled: the turn was told to stop' } };

/** For agents that listen: none of it is waited for in vain. */
const PATIENT = { readTimeoutMs: 10_000, stopGraceMs: 10_000 };

async function open(script: string, settings: Partial<AgentSettings> = PATIENT): Promise<AgentSession> {
  const agent = await stage.agent(script, {}, settings);
  session = await agent.startSession(stage.request(), never);
  return session;
}

/** Runs a turn and aborts it with its first event of work. */
async function abortedTurn(live: AgentSession) {
  const controller = new AbortController();
  const { events, hear } = createListener();
  const onEvent = (event: AgentEvent): void => {
    hear(event);
    if (event.type === 'tool_started') controller.abort();
  };
  const result = await live.runTurn({ number: 1, prompt: 'x' }, onEvent, controller.signal);
  const told = events.length;
  return { result, events, toldLater: () => events.length - told };
}

const WORK = `update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'work' });`;

describe('a turn that is aborted', () => {
  it('is cancelled in the way of the protocol, counts what it spent, and leaves no process', async () => {
    const live = await open(`
      let finish;
      handlers['session/prompt'] = () => { ${WORK} return new Promise((resolve) => (finish = resolve)); };
      handlers['session/cancel'] = () => finish({ stopReason: 'cancelled', usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } });`);
    const { result, events } = await abortedTurn(live);
    expect(result).toMatchObject(CANCELLED);
    expect(events.findLast(({ type }) => type === 'usage')).toMatchObject({ type: 'usage', tokens: { totalTokens: 6 } });
    expect((await stage.heard()).at(-1)).toEqual({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } });
    expect(stage.ledger.ended).toHaveLength(1);
  });

  it('is cancelled whatever the agent says afterwards', async () => {
    const live = await open(`
      let finish;
      handlers['session/prompt'] = () => { ${WORK} return new Promise((resolve) => (finish = resolve)); };
      handlers['session/cancel'] = async () => {
        const { result } = await ask('session/request_permission', { options: [{ kind: 'allow_once', optionId: 'a', name: 'a' }] });
        writeFileSync('answer', JSON.stringify(result));
        finish({ stopReason: 'end_turn' });
      };`);
    expect((await abortedTurn(live)).result).toMatchObject(CANCELLED);
    expect(await stage.read('answer')).toBe('{"outcome":{"outcome":"cancelled"}}');
  });

  it('ends an agent that does not listen, with all that it started, within the time', async () => {
    const live = await open(
      `handlers['session/prompt'] = async () => {
        const child = spawn('sh', ['-c', 'trap "" TERM INT; sleep 60 & echo $! > grandchild; wait; wait'], { stdio: ['ignore', 'inherit', 'ignore'] });
        const stray = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
        writeFileSync('child', String(child.pid));
        writeFileSync('stray', String(stray.pid));
        const wait = setInterval(() => { if (existsSync('grandchild')) { clearInterval(wait); ${WORK} } }, 5);
        return forever();
      };
      process.on('SIGTERM', () => {});
      process.stdin.on('end', () => {});
      setInterval(() => say('still talking'), 1);`,
      { readTimeoutMs: 30_000, stopGraceMs: 200 },
    );
    const startedAt = performance.now();
    const { result, toldLater } = await abortedTurn(live);
    expect(result).toMatchObject(CANCELLED);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    for (const name of ['child', 'grandchild', 'stray'])
      expect(processStartTime(Number(await stage.read(name))), name).toBeNull();
    expect(toldLater()).toBe(0);
    expect(await live.runTurn({ number: 2, prompt: 'x' }, () => {}, never)).toMatchObject({ fault: { kind: 'agent_exited' } });
  });

  it('before it began asks the agent nothing', async () => {
    const live = await open('');
    expect(await live.runTurn({ number: 1, prompt: 'x' }, () => {}, AbortSignal.abort())).toMatchObject(CANCELLED);
    expect((await stage.heard()).map(({ method }) => method)).not.toContain('session/prompt');
  });
});

describe('a session that is stopped', () => {
  it('lets its agent leave by itself, and may be stopped again', async () => {
    const live = await open(`process.stdin.on('end', () => writeFileSync('farewell', 'bye'));`);
    await Promise.all([live.stop(), live.stop()]);
    expect(await stage.read('farewell')).toBe('bye');
    expect(await live.runTurn({ number: 1, prompt: 'x' }, () => {}, never)).toMatchObject(CANCELLED);
  });

  it('cancels the turn that runs', async () => {
    const live = await open(`handlers['session/prompt'] = () => { ${WORK} return forever(); };`, {
      readTimeoutMs: 2_000,
      stopGraceMs: 50,
    });
    let stopping: Promise<void> | undefined;
    const turn = live.runTurn(
      { number: 1, prompt: 'x' },
      ({ type }) => void (type === 'tool_started' && (stopping = live.stop())),
      never,
    );
    expect(await turn).toMatchObject(CANCELLED);
    await stopping;
    expect(stage.ledger.ended).toHaveLength(1);
  });
});

describe('an agent that floods', () => {
  const flood = (line: string, megabytes: number) => `async () => {
    ${WORK}
    const lines = (${line} + '\\n').repeat(100);
    for (let sent = 0; sent < ${megabytes * 1e6}; sent += lines.length) {
      if (!process.stdout.write(lines)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    say('the end');
    return { stopReason: 'end_turn' };
  }`;
  const updateLine = (update: string) =>
    `JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: ${update} } })`;

  it.each([
    ['words', updateLine(`{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'word '.repeat(50) } }`)],
    ['tool calls', updateLine(`{ sessionUpdate: 'tool_call', toolCallId: 'x', title: 'y'.repeat(300) }`)],
    ['junk', `'junk '.repeat(60)`],
    ['requests', `JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'fs/read_text_file', params: { path: 'x'.repeat(300) } })`],
    ['one line', `'x'.repeat(100_000)`],
  ])('with %s stays within bounds and its turn ends', async (_name, line) => {
    const live = await open(`process.stdin.resume(); handlers['session/prompt'] = ${flood(line, 10)};`);
    const { events, hear, texts } = createListener();
    const before = await heldMb();
    const startedAt = performance.now();
    const result = await live.runTurn({ number: 1, prompt: 'x' }, hear, never);
    const seconds = (performance.now() - startedAt) / 1000;
    expect(result).toEqual({ ok: true });
    expect(texts('message').at(-1)).toMatch(/the end$/);
    expect(events.length).toBeLessThan(120 + 20 * seconds);
    expect((await heldMb()) - before).toBeLessThan(5);
  });
});
