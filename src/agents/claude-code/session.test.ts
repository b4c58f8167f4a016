import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { prints, SETTINGS, takeTurn, fakeWith, faultKindOf } from '../../../test/support/claude-code/fake-claude.ts';
import { agentKind } from './index.ts';

const SESSION = 'c3b6570d-8d66-4b84-be5a-9efa69b76cc5';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const notices = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
const valueOf = (args: readonly string[], name: string): string | undefined => args[args.indexOf(name) + 1];
describe('a session', () => {
  it('runs a turn as one process in the workspace, with the prompt on standard input', async () => {
    const fake = await fakeWith([prints('success')], { ANTHROPIC_API_KEY: 'key' });
    const session = await fake.open();
    const ownId = session.sessionId;
    expect(ownId).toMatch(UUID);
    expect(fake.started).toEqual([]);
    const { result, events } = await takeTurn(session, 'line 1\nline 2 "$x"');
    expect(result).toEqual({ ok: true });
    expect(await fake.noted('stdin', 1)).toBe('line 1\nline 2 "$x"');
    expect((await fake.noted('cwd', 1)).trim()).toBe(fake.request.workspacePath);
    expect(valueOf(await fake.args(1), '--session-id')).toBe(ownId);
    expect(await fake.noted('env', 1)).toMatch(new RegExp(`^FORAY_RUN_ID=${fake.request.runId}$`, 'm'));
    expect(events[0]).toEqual({ type: 'session_started', sessionId: SESSION, model: 'claude-sonnet-4-5' });
    expect(events.at(-1)).toMatchObject({ type: 'usage', costUsd: 0.008441999999999998 });
    expect(fake.started).toHaveLength(1);
    expect(fake.ended).toEqual(fake.started);
    await session.stop();
  });

  it('goes on with the conversation and adds its usage up', async () => {
    const fake = await fakeWith([prints('success'), prints('resumed')]);
    const session = await fake.open();
    await takeTurn(session);
    expect(session.sessionId).toBe(SESSION);
    const { result, events } = await takeTurn(session, 'go on');
    expect(result).toEqual({ ok: true });
    const args = await fake.args(2);
    expect(valueOf(args, '--resume')).toBe(SESSION);
    expect(args).not.toContain('--session-id');
    expect(events.some((event) => event.type === 'session_started')).toBe(false);
    expect(events.at(-1)).toMatchObject({
      type: 'usage',
      tokens: { inputTokens: 4509, outputTokens: 75, totalTokens: 4584, cacheReadTokens: 900 },
      requests: 3,
      apiMs: 97,
    });
    await session.stop();
  });

  it('takes up the conversation of an earlier run, and counts only its own usage', async () => {
    const fake = await fakeWith([prints('resumed')]);
    const session = await fake.open({ resumeSessionId: SESSION });
    expect(session.sessionId).toBe(SESSION);
    const { events } = await takeTurn(session);
    expect(valueOf(await fake.args(1), '--resume')).toBe(SESSION);
    expect(events.at(-1)).toMatchObject({ type: 'usage', tokens: { outputTokens: 25 } });
  });

  it('starts anew once, in the same turn, when the conversation is lost', async () => {
    const fake = await fakeWith([prints('lost-conversation', 1), prints('success')]);
    const session = await fake.open({ resumeSessionId: '00000000-0000-4000-8000-000000000000' });
    const { result, events } = await takeTurn(session);
    expect(result).toEqual({ ok: true });
    expect(notices(events)).toEqual([
      'the conversation 00000000-0000-4000-8000-000000000000 cannot go on, it does not exist any more: a new one is started',
    ]);
    expect(valueOf(await fake.args(2), '--session-id')).toMatch(UUID);
    expect(await fake.noted('stdin', 2)).toBe('do it');
    expect(session.sessionId).toBe(SESSION);
    expect(fake.ended).toEqual(fake.started);
  });

  it('does not start anew for ever, and not for a conversation of its own', async () => {
    const twice = await fakeWith([prints('lost-conversation', 1), prints('too-long', 1)]);
    const { result } = await takeTurn(await twice.open({ resumeSessionId: SESSION }));
    expect(faultKindOf(result)).toBe('turn_failed');
    expect(await twice.calls()).toBe(2);
    const own = await fakeWith([prints('too-long', 1)]);
    expect(faultKindOf((await takeTurn(await own.open())).result)).toBe('turn_failed');
    expect(await own.calls()).toBe(1);
  });

  it('starts anew with an id of another agent', async () => {
    const fake = await fakeWith([prints('success')]);
    const session = await fake.open({ resumeSessionId: 'mock-session-1' });
    const { result, events } = await takeTurn(session);
    expect(result).toEqual({ ok: true });
    expect(notices(events)).toEqual(['the conversation mock-session-1 is not one of Claude Code: a new one is started']);
    expect(valueOf(await fake.args(1), '--session-id')).toMatch(UUID);
  });

  it('gives the agent the tool server by its arguments and environment, and writes no file', async () => {
    const fake = await fakeWith([prints('success')]);
    const toolServer = { name: 'foray', command: '/bin/tools', args: ['x'], env: { FORAY_TOOL_TOKEN: 'of-this-run-alone' } };
    const session = await fake.open({ toolServer });
    expect(session.hasTools).toBe(true);
    await takeTurn(session);
    expect(valueOf(await fake.args(1), '--mcp-config')).toContain('"command":"/bin/tools"');
    expect((await fake.args(1)).join(' ')).not.toContain('of-this-run-alone');
    expect(valueOf(await fake.args(1), '--allowedTools')).toBe('mcp__foray');
    expect(await fake.noted('env', 1)).toContain('FORAY_TOOL_TOKEN=of-this-run-alone');
    expect(existsSync(path.join(fake.request.workspacePath, '.foray'))).toBe(false);
    await session.stop();
  });

  it('hands on what is left of the budget', async () => {
    const fake = await fakeWith([prints('success')]);
    const session = await fake.open();
    await session.runTurn({ number: 1, prompt: 'x', budgetUsd: 1.5 }, () => {}, new AbortController().signal);
    expect(valueOf(await fake.args(1), '--max-budget-usd')).toBe('1.5');
  });

  it('is alive while an answer streams and while a command reports that it runs', async () => {
    const line = (text: string): string => `echo '${text}'; sleep 0.15;`;
    const partial = line('{"type":"stream_event","event":{"type":"content_block_delta"}}');
    const progress = line('{"type":"tool_progress","tool_name":"Bash","elapsed_time_seconds":30}');
    const fake = await fakeWith([`cat >/dev/null; ${partial.repeat(3)} ${progress.repeat(3)} ${prints('success')}`]);
    const agent = agentKind.create({ ...SETTINGS, stallTimeoutMs: 300 }, {}, fake.deps);
    const session = await agent.startSession(fake.request, new AbortController().signal);
    const { events } = await takeTurn(session);
    expect(events.filter(({ type }) => type === 'alive').length).toBeGreaterThanOrEqual(3);
  });

  it('passes extra arguments of the command first', async () => {
    const fake = await fakeWith([prints('success')]);
    const agent = agentKind.create({ ...SETTINGS, command: ['claude', '--debug'] }, {}, fake.deps);
    await takeTurn(await agent.startSession(fake.request, new AbortController().signal));
    expect((await fake.args(1)).slice(0, 2)).toEqual(['--debug', '-p']);
  });
});
describe('a failed turn', () => {
  it.each([
    { fixture: 'bad-key', code: 1, kind: 'agent_not_logged_in', consequence: 'back-off-at-cap' },
    { fixture: 'rate-limit', code: 1, kind: 'agent_usage_limit', consequence: 'pause-agent' },
    { fixture: 'refusal', code: 1, kind: 'agent_refused', consequence: 'park' },
    { fixture: 'permission-denied', code: 0, kind: 'agent_needs_person', consequence: 'park' },
    { fixture: 'server-error', code: 1, kind: 'turn_failed', consequence: 'back-off' },
    { fixture: 'unknown-command', code: 0, kind: 'agent_did_nothing', consequence: 'back-off' },
    { fixture: 'interrupted', code: 0, kind: 'agent_exited', consequence: 'back-off' },
  ])('$fixture is $kind', async ({ fixture, code, kind, consequence }) => {
    const fake = await fakeWith([prints(fixture, code)]);
    const { result } = await takeTurn(await fake.open());
    expect(result).toMatchObject({ ok: false, fault: { kind, consequence } });
    expect(fake.ended).toEqual(fake.started);
  });

  it('shows the end of standard error, without secrets', async () => {
    const fake = await fakeWith(['echo "cannot go on with $MY_API_KEY" >&2; exit 3'], { MY_API_KEY: 'sk-very-secret' });
    const { result } = await takeTurn(await fake.open());
    expect(result).toMatchObject({
      fault: {
        kind: 'agent_exited',
        message: 'agent: agent_exited: claude exited with code 3 without a result: cannot go on with [redacted]',
      },
    });
  });

  it('repeats no secret in its events', async () => {
    const line = '{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"text","text":"key $MY_TOKEN"}]}}';
    const fake = await fakeWith([`cat >/dev/null; echo "${line.replaceAll('"', '\\"')}"`], { MY_TOKEN: 'sk-very-secret' });
    const { events } = await takeTurn(await fake.open());
    expect(events).toEqual([{ type: 'message', text: 'key [redacted]' }]);
  });

  it('names a program that is missing or cannot be run', async () => {
    const fake = await fakeWith([]);
    const session = await fake.open();
    await rm(path.join(fake.dir, 'claude'));
    fake.started.length = 0;
    const { result } = await takeTurn(session);
    expect(result).toMatchObject({ fault: { kind: 'agent_not_found', message: expect.stringContaining('agent.command') } });
    expect(fake.started).toEqual([]);
  });

  it('is not blamed on the program when the workspace is gone', async () => {
    const fake = await fakeWith([prints('success')]);
    const session = await fake.open();
    await rm(fake.request.workspacePath, { recursive: true });
    const { result } = await takeTurn(session);
    expect(result).toMatchObject({
      fault: { kind: 'agent_exited', message: expect.stringMatching(/directory .*ws does not exist/) },
    });
  });
});
describe('findProblem', () => {
  it.each([
    { command: null, options: {}, problem: null },
    { command: ['no-such-program'], options: {}, problem: /^cannot find the program no-such-program: install Claude Code with/ },
    { command: ['/dev/null'], options: {}, problem: /^cannot find/ },
    { command: null, options: { mcp_config: '/no/such.json' }, problem: /mcp_config: cannot read/ },
  ])('of $command with $options', async ({ command, options, problem }) => {
    const fake = await fakeWith([]);
    const agent = agentKind.create({ ...SETTINGS, command }, agentKind.options.parse(options), fake.deps);
    const found = await agent.findProblem();
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
    expect(await fake.calls()).toBe(0);
  });

  it('does not open a session that was aborted, or whose tool server cannot be set up', async () => {
    const fake = await fakeWith([]);
    const agent = agentKind.create(SETTINGS, {}, fake.deps);
    await expect(agent.startSession(fake.request, AbortSignal.abort())).rejects.toThrow();
    await expect(fake.open({}, { mcp_config: '/no/such.json' })).rejects.toMatchObject({
      name: 'AgentError',
      kind: 'turn_failed',
    });
  });
});
