import { afterEach, describe, expect, it } from 'vitest';
import { keepFakes, lastUsage, say } from '../../../test/support/codex/fake-app-server.ts';
import * as recorded from '../../../test/support/codex/recorded.ts';

const GOOD_TURN = say(recorded.WORKING_TURN);
const { fakeCodex, cleanUp } = keepFakes();
afterEach(cleanUp);

describe('a turn that works', () => {
  it('is reported from its start to its figures', async () => {
    const fake = fakeCodex();
    const session = await fake.start();
    expect(session.sessionId).toBe('thread-new');
    const { result, events } = await fake.turn(session, GOOD_TURN);
    expect(result).toEqual({ ok: true });
    const tokens = { inputTokens: 2468, outputTokens: 112, totalTokens: 2580, cacheReadTokens: 400 };
    expect(events.filter(({ type }) => type !== 'usage')).toEqual([
      { type: 'session_started', sessionId: 'thread-new', model: 'fake-model' },
      expect.objectContaining({ type: 'tool_started', toolId: 'call_3mw', name: 'shell' }),
      expect.objectContaining({ type: 'tool_ended', toolId: 'call_3mw', name: 'shell', ok: true }),
      { type: 'message', text: 'DONE: wrote hello.txt' },
    ]);
    expect(lastUsage(events)).toEqual({ type: 'usage', tokens, requests: 2, requestsByModel: { 'fake-model': 2 } });
  });

  it('counts figures that are told a moment after its end', async () => {
    const fake = fakeCodex();
    const ended = say(recorded.message('did it'), recorded.turnEnded('completed'));
    // The answer to a question takes as long as a message to us and back.
    const steps = [...ended, { ask: recorded.ASKED_COMMAND }, ...say(recorded.usage(1))];
    const { result, events } = await fake.turn(await fake.start(), steps);
    expect(result).toEqual({ ok: true });
    expect(lastUsage(events)).toMatchObject({ tokens: { inputTokens: 1234, outputTokens: 56 }, requests: 1 });
  });

  it('follows on another in the same process and thread, and the figures go on', async () => {
    const fake = fakeCodex();
    const session = await fake.start();
    await fake.turn(session, GOOD_TURN);
    const { result, events } = await fake.turn(
      session,
      say(recorded.message('more'), recorded.usage(3), recorded.turnEnded('completed')),
    );
    expect(result).toEqual({ ok: true });
    expect(lastUsage(events)).toMatchObject({ tokens: { inputTokens: 3702, outputTokens: 168 }, requests: 3 });
    expect(fake.log().filter(({ started }) => started)).toHaveLength(1);
    expect(fake.received('turn/start').map(({ params }) => (params as { threadId: string }).threadId)).toEqual([
      'thread-new',
      'thread-new',
    ]);
  });

  it('goes on with a resumed thread, whose earlier spending is not counted', async () => {
    const fake = fakeCodex();
    const session = await fake.start({ afterOpen: [recorded.usage(5, 'turn-of-old')] }, { resumeSessionId: 'thread-old' });
    expect(session.sessionId).toBe('thread-old');
    expect(fake.received('thread/resume')[0]?.['params']).toMatchObject({ threadId: 'thread-old', excludeTurns: true });
    const { events } = await fake.turn(
      session,
      say(recorded.message('again'), recorded.usage(6), recorded.turnEnded('completed')),
    );
    expect(lastUsage(events)).toMatchObject({
      tokens: { inputTokens: 1234, outputTokens: 56, cacheReadTokens: 200 },
      requests: 1,
    });
  });

  it('begins a new thread, and says so, when the old one is lost', async () => {
    const fake = fakeCodex();
    const session = await fake.start({ refuse: { 'thread/resume': 'no rollout found' } }, { resumeSessionId: 'gone' });
    expect(session.sessionId).toBe('thread-new');
    const { result, events } = await fake.turn(session, GOOD_TURN);
    expect(result).toEqual({ ok: true });
    const text = 'cannot resume the conversation gone, a new one begins: no rollout found';
    expect(events).toContainEqual({ type: 'notice', text });
  });

  it('tells what Codex warned about before the turn, and a change of the model', async () => {
    const fake = fakeCodex();
    const session = await fake.start({ afterOpen: [{ method: 'configWarning', params: { summary: 'bubblewrap is missing' } }] });
    const rerouted = {
      method: 'model/rerouted',
      params: { threadId: '$T', turnId: '$U', fromModel: 'a', toModel: 'b', reason: 'x' },
    };
    const { events } = await fake.turn(session, [...say(rerouted), ...GOOD_TURN]);
    expect(events).toContainEqual({ type: 'notice', text: 'bubblewrap is missing' });
    expect(events).toContainEqual({ type: 'session_started', sessionId: 'thread-new', model: 'b' });
    expect(lastUsage(events)).toMatchObject({ requestsByModel: { b: 2 } });
  });

  it('gives Codex the options, the run and the workspace, and keeps the key to itself', async () => {
    const fake = fakeCodex({ CODEX_API_KEY: 'sk-secret-1', OTHER: 'x' });
    const options = {
      model: 'gpt-x',
      effort: 'high',
      sandbox: 'workspace-write',
      network_access: true,
      approval_policy: 'untrusted',
    };
    const toolServer = { name: 'foray', command: 'node', args: ['cli.js', 'mcp'], env: { FORAY_TOOL_TOKEN: 'tok-12345678' } };
    const session = await fake.start({ requiresOpenaiAuth: true }, { toolServer }, options);
    expect(session.hasTools).toBe(true);
    await fake.turn(session, GOOD_TURN);
    const started = fake.log()[0]?.['started'] ?? {};
    const [argv, env] = [started['argv'] as string[], started['env'] as Record<string, string>];
    const workspace = fake.workspacePath;
    expect(started['cwd']).toBe(workspace);
    expect(env).toMatchObject({
      PWD: workspace,
      FORAY_WORKSPACE: workspace,
      FORAY_ISSUE_ID: '7',
      FORAY_ISSUE_IDENTIFIER: 'AB-7',
      OTHER: 'x',
    });
    expect(env).toMatchObject({ FORAY_TOOL_TOKEN: 'tok-12345678', FORAY_RUN_ID: `run-${workspace.split('/').at(-1)}` });
    expect(env['CODEX_API_KEY']).toBeUndefined();
    expect(argv).toEqual([
      '-c',
      `projects={${JSON.stringify(workspace)}={trust_level="trusted"}}`,
      '-c',
      'cli_auth_credentials_store="ephemeral"',
      '-c',
      'mcp_servers.foray={command="node",args=["cli.js","mcp"],env_vars=["FORAY_TOOL_TOKEN"],default_tools_approval_mode="approve"}',
    ]);
    const asked = (method: string): unknown => fake.received(method)[0]?.['params'];
    expect(asked('initialize')).toMatchObject({ clientInfo: { name: 'foray' } });
    expect(asked('account/login/start')).toEqual({ type: 'apiKey', apiKey: 'sk-secret-1' });
    expect(asked('thread/start')).toEqual({
      cwd: workspace,
      approvalPolicy: 'untrusted',
      sandbox: 'workspace-write',
      model: 'gpt-x',
    });
    expect(asked('turn/start')).toMatchObject({
      effort: 'high',
      cwd: workspace,
      approvalPolicy: 'untrusted',
      sandboxPolicy: { type: 'workspaceWrite', writableRoots: [workspace], networkAccess: true },
    });
    expect(fake.log().map((entry) => entry['received']?.['method'])).toContain('initialized');
  });

  it.each([
    ['read-only', { type: 'readOnly', networkAccess: false }],
    ['danger-full-access', { type: 'dangerFullAccess' }],
  ])('runs in the sandbox %s', async (sandbox, policy) => {
    const fake = fakeCodex();
    await fake.turn(await fake.start({}, {}, { sandbox }), GOOD_TURN);
    expect(fake.received('turn/start')[0]?.['params']).toMatchObject({ approvalPolicy: 'never', sandboxPolicy: policy });
  });
});
