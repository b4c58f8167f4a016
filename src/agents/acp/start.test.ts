import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../ports/agent.ts';
import { waysOf } from './known-agents.ts';
import { createListener, createStage, type Stage } from '../../../test/support/acp/scripted-agent.ts';
import { waitBeforeLoad } from './session.ts';
import { createConversations } from './conversations.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await createStage({ AGENT_API_KEY: 'a-secret-value' });
});
afterEach(async () => {
  expect(stage.ledger.ended.sort()).toEqual(stage.ledger.started.map(([pid]) => pid).sort());
  await stage.remove();
});

const never = new AbortController().signal;

/** Opens a session, takes one turn, and closes it. */
async function once(agent: Agent, changes = {}) {
  const session = await agent.startSession(stage.request(changes), never);
  const { events, hear, texts } = createListener();
  const result = await session.runTurn({ number: 1, prompt: 'go' }, hear, never);
  await session.stop();
  const heard = (await stage.heard()).filter(({ method }) => method !== undefined);
  return { session, events, texts, result, heard, methods: heard.map(({ method }) => method) };
}

const refused = (agent: Agent, changes = {}): Promise<unknown> =>
  agent.startSession(stage.request(changes), never).then(
    () => expect.unreachable('a session was opened'),
    (error: unknown) => error,
  );

describe('opening a session', () => {
  it('waits no longer than an operator says who says less than the default', async () => {
    const agent = await stage.agent(`handlers['initialize'] = () => new Promise(() => {});`, {}, { readTimeoutMs: 300 });
    expect(await refused(agent)).toMatchObject({
      kind: 'agent_protocol_error',
      message: expect.stringContaining('no answer to initialize within 300 ms') as string,
    });
  });

  it('says who we are and what we cannot do, and starts in the workspace', async () => {
    const agent = await stage.agent(`handlers['session/prompt'] = () => {
      writeFileSync('env.json', JSON.stringify({ cwd: process.cwd(), ...process.env }));
      say('done');
      return { stopReason: 'end_turn' };
    };`);
    const { heard, result, session, events } = await once(agent);
    expect(result).toEqual({ ok: true });
    expect(session).toMatchObject({ sessionId: 's1', hasTools: false });
    expect(events[0]).toEqual({ type: 'session_started', sessionId: 's1' });
    expect(heard.map(({ method, params }) => [method, params])).toEqual([
      [
        'initialize',
        {
          protocolVersion: 1,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
          clientInfo: { name: 'foray', version: expect.any(String) as unknown },
        },
      ],
      ['session/new', { cwd: stage.workspace, mcpServers: [] }],
      ['session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'go' }] }],
    ]);
    const { runId } = stage.request();
    expect(JSON.parse(await stage.read('env.json'))).toMatchObject({
      cwd: stage.workspace,
      PWD: stage.workspace,
      FORAY_RUN_ID: runId,
      FORAY_ISSUE_ID: '7',
      FORAY_ISSUE_IDENTIFIER: 'X-7',
      FORAY_WORKSPACE: stage.workspace,
    });
    expect(stage.ledger.started).toEqual([[expect.any(Number), runId]]);
  });

  it('is done alone until one has set the home of the agent up', async () => {
    const agent = await stage.agent(`
      const lock = 'setting-up';
      if (existsSync(lock)) { console.error('database is locked'); process.exit(1); }
      writeFileSync(lock, '');
      await new Promise((resolve) => setTimeout(resolve, 150));
      (await import('node:fs')).rmSync(lock);`);
    const opening = ['first', 'second'].map((runId) => agent.startSession(stage.request({ runId }), never));
    const sessions = await Promise.all(opening);
    await Promise.all(sessions.map((session) => session.stop()));
    expect(stage.ledger.started).toHaveLength(2);
  });

  const toolServer = { name: 'foray', command: '/usr/bin/node', args: ['tools.js', '-x'], env: { A: '1', B: '2' } };

  it('hands the tool server over', async () => {
    const { session, heard } = await once(await stage.agent(''), { toolServer });
    expect(session.hasTools).toBe(true);
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ];
    expect(heard[1]?.params).toMatchObject({
      mcpServers: [{ name: 'foray', command: '/usr/bin/node', args: ['tools.js', '-x'], env }],
    });
  });

  it.each([
    ['acp.mcp is false', '', { mcp: false }, []],
    ['the agent drops it', `info.name = 'Copilot'`, {}, [expect.stringContaining('takes no tool server')]],
  ])('keeps the tool server when %s', async (_name, script, options, notices) => {
    const { session, heard, texts } = await once(await stage.agent(script, options), { toolServer });
    expect(session.hasTools).toBe(false);
    expect(heard[1]?.params).toMatchObject({ mcpServers: [] });
    expect(texts('notice')).toEqual(notices);
  });
});

describe('going on with a conversation', () => {
  const loading = `
    capabilities.loadSession = true;
    const history = () => {
      update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'before' } }, 'old');
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'old words' } }, 'old');
      update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'old tool', status: 'completed' }, 'old');
    };
    handlers['session/load'] = () => { history(); return {}; };
    handlers['session/prompt'] = () => ({ stopReason: 'end_turn', usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } });`;

  it('loads it where the agent can, and takes nothing of it for work of this turn', async () => {
    const { session, result, methods, events, heard } = await once(await stage.agent(loading), { resumeSessionId: 'old' });
    expect(session.sessionId).toBe('old');
    expect(methods).toEqual(['initialize', 'session/load', 'session/prompt']);
    expect(heard[1]?.params).toEqual({ sessionId: 'old', cwd: stage.workspace, mcpServers: [] });
    expect(result).toMatchObject({ ok: false, fault: { kind: 'agent_did_nothing' } });
    expect(events.map(({ type }) => type)).toEqual(['session_started', 'usage']);
  });

  it('takes what is repeated after the load was answered for history too', async () => {
    const late = `${loading} handlers['session/load'] = () => { setTimeout(history, 100); return null; };`;
    const { result, events } = await once(await stage.agent(late), { resumeSessionId: 'old' });
    expect(result).toMatchObject({ fault: { kind: 'agent_did_nothing' } });
    expect(events.map(({ type }) => type)).toEqual(['session_started', 'usage']);
  });

  it('resumes it where the agent cannot load', async () => {
    const script = `capabilities.loadSession = false; capabilities.sessionCapabilities = { resume: {} };
      handlers['session/resume'] = () => ({});
      handlers['session/prompt'] = () => { update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'x' }, 'old'); return { stopReason: 'end_turn' }; };`;
    const { session, methods, result } = await once(await stage.agent(script), { resumeSessionId: 'old' });
    expect(session.sessionId).toBe('old');
    expect(methods).toEqual(['initialize', 'session/resume', 'session/prompt']);
    expect(result).toEqual({ ok: true });
  });

  it.each([
    ['the agent can do neither', `capabilities.loadSession = false`, 'cannot continue a conversation'],
    [
      'the agent says nothing of what it can do',
      `handlers.initialize = () => ({ protocolVersion: 1 })`,
      'cannot continue a conversation',
    ],
    [
      'it is lost',
      `handlers['session/load'] = () => fail(-32603, 'Internal error', { details: 'No previous sessions' })`,
      'is lost and a new one begins: Internal error: No previous sessions',
    ],
  ])('begins a new one and says so when %s', async (_name, script, notice) => {
    const { session, result, texts } = await once(await stage.agent(script), { resumeSessionId: 'old' });
    expect(session.sessionId).toBe('s1');
    expect(result).toEqual({ ok: true });
    expect(texts('notice')).toEqual([expect.stringContaining(notice)]);
  });

  it('counts only what this run costs', async () => {
    const agent = await stage.agent(`
      handlers['session/load'] = () => ({});
      let cost = existsSync('cost') ? 0.5 : 0;
      handlers['session/prompt'] = () => {
        writeFileSync('cost', '');
        say('done');
        update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: (cost += 0.5), currency: 'USD' } });
        return { stopReason: 'end_turn', usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } };
      };`);
    const first = await once(agent);
    expect(first.events.at(-1)).toMatchObject({ type: 'usage', costUsd: 0.5 });
    const second = await once(agent, { resumeSessionId: 's1' });
    expect(second.events.at(-1)).toMatchObject({ type: 'usage', costUsd: 0.5, tokens: { totalTokens: 6 } });
  });

  it('counts what this run costs also when another daemon had the conversation before', async () => {
    const script = `
      handlers['session/load'] = () => {
        update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } });
        return {};
      };
      handlers['session/prompt'] = () => {
        say('done');
        update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.75, currency: 'USD' } });
        return { stopReason: 'end_turn', usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } };
      };`;
    const { events } = await once(await stage.agent(script), { resumeSessionId: 's1' });
    expect(events.findLast(({ type }) => type === 'usage')).toMatchObject({ costUsd: 0.25 });
  });

  it.each([
    ['after the minute in which it was opened', 30_000, 30_050],
    ['at once in the next minute', 61_000, 0],
    ['after a minute at most', -500_000, 60_050],
  ])('loads a conversation of Gemini CLI %s', (_name, later, wait) => {
    const openedAt = Date.parse('2026-11-15T10:00:00Z');
    const now = openedAt + later;
    expect(waitBeforeLoad(openedAt, now, waysOf('gemini-cli'))).toBe(wait);
    expect(waitBeforeLoad(openedAt, now, waysOf('OpenCode'))).toBe(0);
  });

  it('takes a conversation of an earlier daemon for one of the moment before this one started', () => {
    const conversations = createConversations(1_000);
    expect(conversations.openedAt('s1')).toBe(1_000);
    conversations.opened('s1', 5_000);
    expect(conversations.openedAt('s1')).toBe(5_000);
  });
});

describe('the choices of the operator', () => {
  const lists = `handlers['session/new'] = () => ({
    sessionId: 's1',
    models: { currentModelId: 'auto', availableModels: [{ modelId: 'auto', name: 'Auto' }, { modelId: 'big', name: 'Big' }] },
    modes: { currentModeId: 'default', availableModes: [{ id: 'default', name: 'Default' }, { id: 'yolo', name: 'YOLO' }] },
  });
  handlers['session/set_model'] = ({ modelId }) => modelId === 'bad' ? fail(-32602, 'no such model') : {};
  handlers['session/set_mode'] = () => ({});`;

  it('are made before the first turn', async () => {
    const { heard, events } = await once(await stage.agent(lists, { model: 'big', mode: 'yolo' }));
    expect(heard.slice(2, 4).map(({ method, params }) => [method, params])).toEqual([
      ['session/set_model', { sessionId: 's1', modelId: 'big' }],
      ['session/set_mode', { sessionId: 's1', modeId: 'yolo' }],
    ]);
    expect(events[0]).toEqual({ type: 'session_started', sessionId: 's1', model: 'big' });
  });

  it('are left to the agent where there are none', async () => {
    const { methods, events } = await once(await stage.agent(lists));
    expect(methods).toEqual(['initialize', 'session/new', 'session/prompt']);
    expect(events[0]).toMatchObject({ model: 'auto' });
  });

  it.each([
    ['lists nothing', ''],
    ['does not know the request', `${lists} delete handlers['session/set_model'];`],
  ])('have no effect, which is said, when the agent %s', async (_name, script) => {
    const { texts, result } = await once(await stage.agent(script, { model: 'big' }));
    expect(result).toEqual({ ok: true });
    expect(texts('notice')).toEqual([expect.stringContaining('acp.model has no effect')]);
  });

  it('are said to be unlisted when they are', async () => {
    const { texts } = await once(await stage.agent(lists, { model: 'new' }));
    expect(texts('notice')).toEqual(['the agent does not list the model new, but did not refuse it; it offers auto, big']);
  });

  it('fail the session when the agent refuses them', async () => {
    expect(await refused(await stage.agent(lists, { model: 'bad' }))).toMatchObject({
      kind: 'agent_protocol_error',
      message: expect.stringContaining('does not take the model bad: no such model; it offers auto, big') as unknown,
    });
  });
});

describe('an agent that cannot be used', () => {
  it.each([
    [
      'another version',
      `handlers.initialize = () => ({ protocolVersion: 2 })`,
      'agent_protocol_error',
      'speaks version 2 of the protocol and not version 1',
    ],
    ['no version', `handlers.initialize = () => ({})`, 'agent_protocol_error', 'speaks version none'],
    [
      'no answer of use',
      `handlers.initialize = () => 'hello'`,
      'agent_protocol_error',
      'the answer to initialize is not what the protocol asks for',
    ],
    ['no session id', `handlers['session/new'] = () => ({})`, 'agent_protocol_error', 'gave no session id'],
    [
      'a session id without end',
      `handlers['session/new'] = () => ({ sessionId: 'x'.repeat(3_000_000) })`,
      'agent_protocol_error',
      'gave a session id of 3000000 characters',
    ],
    [
      'an error at first',
      `handlers.initialize = () => fail(-32603, 'broken')`,
      'agent_protocol_error',
      'initialize failed: broken',
    ],
    [
      'a login that is missing at first',
      `handlers.initialize = () => fail(-32000, 'Authentication required')`,
      'agent_not_logged_in',
      'initialize failed: Authentication required',
    ],
    [
      'a login that is missing',
      `handlers['session/new'] = () => fail(-32000, 'Authentication required')`,
      'agent_not_logged_in',
      'log the agent in',
    ],
    [
      'a limit',
      `handlers['session/new'] = () => fail(-32603, 'usage limit reached')`,
      'agent_usage_limit',
      'usage limit reached',
    ],
    ['an early end', `console.error('bad flag: --acp'); process.exit(3)`, 'agent_exited', 'exit code 3: bad flag: --acp'],
    [
      'an early end for want of a login',
      `console.error('Please set an Auth method first'); process.exit(41)`,
      'agent_not_logged_in',
      'Please set an Auth method',
    ],
    ['an end by a signal', `process.kill(process.pid, 'SIGKILL')`, 'agent_exited', 'ended by SIGKILL'],
    [
      'a secret in its last words',
      `console.error('key ' + process.env.AGENT_API_KEY); process.exit(1)`,
      'agent_exited',
      'key [redacted]',
    ],
  ])('for %s', async (_name, script, kind, why) => {
    expect(await refused(await stage.agent(script))).toMatchObject({ kind, message: expect.stringContaining(why) as unknown });
  });

  it('because it does not ask, and is to be denied what it asks for', async () => {
    const agent = await stage.agent(`info.name = 'OpenCode'`, { permission: 'deny' });
    expect(await refused(agent)).toMatchObject({
      kind: 'agent_protocol_error',
      message: expect.stringContaining('OpenCode does not ask before it acts, so acp.permission: deny has no effect') as unknown,
    });
  });

  it('offers its ways to log in', async () => {
    const agent = await stage.agent(`
      const authMethods = [{ id: 'x', name: 'Log in', description: 'Run \`agent login\`' }, { id: 'y', name: 'API key' }];
      handlers.initialize = () => ({ protocolVersion: 1, authMethods });
      handlers['session/new'] = () => fail(-32000, 'Authentication required');`);
    expect(await refused(agent)).toMatchObject({
      message: expect.stringContaining('(it offers: Run `agent login`; API key)') as unknown,
    });
  });

  it('because it speaks no protocol', async () => {
    const script = `console.log('Welcome to the agent!'); handlers.initialize = () => ({ protocolVersion: 'old' })`;
    expect(await refused(await stage.agent(script))).toMatchObject({
      kind: 'agent_protocol_error',
      message: expect.stringContaining(
        'it printed: Welcome to the agent!; does agent.command start it in its protocol mode?',
      ) as unknown,
    });
  });

  it('because it is not there', async () => {
    const agent = stage.program(['no-such-agent', '--acp']);
    expect(await agent.findProblem()).toContain('cannot find the program no-such-agent: install it, or set agent.command');
    expect(await refused(agent)).toMatchObject({
      kind: 'agent_not_found',
      message: expect.stringContaining('correct agent.command') as unknown,
    });
  });

  it('because none is named', async () => {
    expect(await stage.program([]).findProblem()).toContain('set agent.command');
    expect(await refused(stage.program([]))).toMatchObject({ kind: 'agent_not_found' });
  });

  it('because the workspace is gone', async () => {
    const agent = stage.program([process.execPath]);
    expect(await agent.findProblem()).toBeNull();
    expect(await refused(agent, { workspacePath: '/no/such/place' })).toMatchObject({ kind: 'agent_exited' });
  });

  it('is stopped when the start is called off', async () => {
    const controller = new AbortController();
    const agent = await stage.agent(`handlers.initialize = forever; process.on('SIGTERM', () => {}); say('up');`);
    const opening = agent.startSession(stage.request(), controller.signal);
    setTimeout(() => controller.abort(), 100);
    await expect(opening).rejects.toMatchObject({ kind: 'turn_cancelled' });
    await expect(agent.startSession(stage.request(), controller.signal)).rejects.toMatchObject({ kind: 'turn_cancelled' });
  });
});
