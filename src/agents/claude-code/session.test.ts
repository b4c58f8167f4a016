import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import {
  createFakeClaude,
  FIXTURES,
  prints,
  SETTINGS,
  takeTurn,
  type FakeClaude,
} from '../../../test/support/claude-code/fake-claude.ts';
import { claudeCodeKind } from './index.ts';
import { claudeCodeOptions } from './options.ts';
import { startSession } from './session.ts';
import { isAlive } from '../../../test/support/processes.ts';

const SESSION = 'c3b6570d-8d66-4b84-be5a-9efa69b76cc5';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const fakes: FakeClaude[] = [];
afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.remove()));
});

async function fakeWith(scripts: readonly string[], env?: Record<string, string>): Promise<FakeClaude> {
  const fake = await createFakeClaude(scripts, env);
  fakes.push(fake);
  return fake;
}

const kindOf = (result: { ok: boolean; fault?: { kind: string } }): string => result.fault?.kind ?? 'ok';
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
    expect(kindOf(result)).toBe('turn_failed');
    expect(await twice.calls()).toBe(2);
    const own = await fakeWith([prints('too-long', 1)]);
    expect(kindOf((await takeTurn(await own.open())).result)).toBe('turn_failed');
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
    const agent = claudeCodeKind.create({ ...SETTINGS, stallTimeoutMs: 300 }, {}, fake.deps);
    const session = await agent.startSession(fake.request, new AbortController().signal);
    const { events } = await takeTurn(session);
    expect(events.filter(({ type }) => type === 'alive').length).toBeGreaterThanOrEqual(3);
  });

  it('passes extra arguments of the command first', async () => {
    const fake = await fakeWith([prints('success')]);
    const agent = claudeCodeKind.create({ ...SETTINGS, command: ['claude', '--debug'] }, {}, fake.deps);
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

describe('a process', () => {
  it('that does not read a long prompt is not waited for', async () => {
    const fake = await fakeWith([prints('success').replace(/^cat [^;]*; /, '')]);
    expect((await takeTurn(await fake.open(), 'x'.repeat(3_000_000))).result).toEqual({ ok: true });
  });

  it('gets a long prompt whole', async () => {
    const fake = await fakeWith([prints('success')]);
    await takeTurn(await fake.open(), 'ü'.repeat(2_000_000));
    expect(await fake.noted('stdin', 1)).toBe('ü'.repeat(2_000_000));
  });

  it('that stays silent after its result is ended, and its result counts', async () => {
    const fake = await fakeWith([prints('success').replace(/exit 0$/, 'exec sleep 60')]);
    const options = claudeCodeOptions().parse({});
    const { settings, deps, request } = fake;
    const session = startSession({ command: ['claude'], options, settings, deps, request, mcpFile: null, lingerMs: 50 });
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    expect(fake.ended).toEqual(fake.started);
  });

  it('is not waited for longer than a turn may be silent', async () => {
    const fake = await fakeWith([prints('success').replace(/exit 0$/, 'exec sleep 60')]);
    const agent = claudeCodeKind.create({ ...SETTINGS, stallTimeoutMs: 400 }, {}, fake.deps);
    const startedAt = performance.now();
    const session = await agent.startSession(fake.request, new AbortController().signal);
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it('whose end cannot be recorded takes nothing down', async () => {
    const fake = await fakeWith([prints('success')]);
    const processes = {
      started: () => {},
      ended: () => {
        throw new Error('the database is locked');
      },
    };
    const agent = claudeCodeKind.create(SETTINGS, {}, { ...fake.deps, processes });
    const session = await agent.startSession(fake.request, new AbortController().signal);
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    await session.stop();
  });

  it('that cannot be recorded does not run', async () => {
    const fake = await fakeWith([`sleep 1; echo > "$FAKE_DIR/ran"; ${prints('success')}`]);
    const pids: number[] = [];
    const processes = {
      started: (pid: number) => {
        pids.push(pid);
        throw new Error('the disk is full');
      },
      ended: () => {},
    };
    const agent = claudeCodeKind.create(SETTINGS, {}, { ...fake.deps, processes });
    const session = await agent.startSession(fake.request, new AbortController().signal);
    await expect(takeTurn(session)).rejects.toThrow('the disk is full');
    expect(isAlive(pids[0]!)).toBe(false);
    expect(existsSync(path.join(fake.dir, 'ran'))).toBe(false);
  });

  it('may print a result of several megabytes', async () => {
    const lines = (await readFile(path.join(FIXTURES, 'success.jsonl'), 'utf8')).trim().split('\n');
    const result = { ...(JSON.parse(lines.at(-1)!) as object), result: 'words '.repeat(400_000) };
    const fake = await fakeWith(['cat >/dev/null; cat "$FAKE_DIR/long"']);
    await writeFile(path.join(fake.dir, 'long'), [...lines.slice(0, -1), JSON.stringify(result)].join('\n'));
    expect((await takeTurn(await fake.open())).result).toEqual({ ok: true });
  });

  it('that leaves a child behind with the output open does not hold the turn up', async () => {
    const fake = await fakeWith([`sleep 60 & echo $! > "$FAKE_DIR/child.$n"; ${prints('success')}`]);
    const session = await fake.open();
    expect((await takeTurn(session)).result).toEqual({ ok: true });
    expect(isAlive(Number(await fake.noted('child', 1)))).toBe(false);
  });
});

/** Aborts once the script has written the file `ready`. */
async function abortWhenReady(fake: FakeClaude, controller: AbortController): Promise<void> {
  await expect.poll(() => existsSync(path.join(fake.dir, 'ready')), { interval: 5, timeout: 5000 }).toBe(true);
  controller.abort();
}

const HANG = 'echo > "$FAKE_DIR/ready"; while :; do sleep 0.01; done';

describe('an aborted turn', () => {
  it('interrupts the agent, hears what it still says, and is cancelled whatever that is', async () => {
    const script = `trap 'sed -n "2,\\$p" "$SUCCESS"; exit 0' INT; sed -n 1p "$SUCCESS"; ${HANG}`;
    const success = new URL('./fixtures/success.jsonl', import.meta.url).pathname;
    const fake = await fakeWith([script], { SUCCESS: success });
    const session = await fake.open();
    const controller = new AbortController();
    const [{ result, events }] = await Promise.all([
      takeTurn(session, 'do it', controller.signal),
      abortWhenReady(fake, controller),
    ]);
    expect(kindOf(result)).toBe('turn_cancelled');
    expect(events.at(-1)).toMatchObject({ type: 'usage', tokens: { outputTokens: 50 } });
    expect(fake.ended).toEqual(fake.started);
  });

  it('ends a stubborn process with its children, also those that left its group', async () => {
    const stubborn = 'trap "" INT TERM;';
    const child = (name: string): string => `sh -c '${stubborn} echo $$ > "$FAKE_DIR/${name}"; while :; do sleep 0.01; done'`;
    const script = `${stubborn} ${child('inside')} & setsid ${child('outside')} &
      until [ -s "$FAKE_DIR/inside" ] && [ -s "$FAKE_DIR/outside" ]; do sleep 0.01; done; ${HANG}`;
    const fake = await fakeWith([script]);
    const agent = claudeCodeKind.create({ ...SETTINGS, stopGraceMs: 100 }, {}, fake.deps);
    const session = await agent.startSession(fake.request, new AbortController().signal);
    const controller = new AbortController();
    const [{ result }] = await Promise.all([takeTurn(session, 'do it', controller.signal), abortWhenReady(fake, controller)]);
    expect(kindOf(result)).toBe('turn_cancelled');
    const pids = [fake.started[0], ...['inside', 'outside'].map((name) => path.join(fake.dir, name))];
    for (const pid of pids) expect(isAlive(Number(typeof pid === 'string' ? await readFile(pid, 'utf8') : pid))).toBe(false);
  });

  it('does not even start when it was aborted before', async () => {
    const fake = await fakeWith([prints('success')]);
    const session = await fake.open();
    expect(kindOf((await takeTurn(session, 'x', AbortSignal.abort())).result)).toBe('turn_cancelled');
    expect(await fake.calls()).toBe(0);
  });

  it('does not start anew after a lost conversation', async () => {
    const lost = `trap 'cat "$LOST"; exit 1' INT; ${HANG}`;
    const fake = await fakeWith([lost], { LOST: new URL('./fixtures/lost-conversation.jsonl', import.meta.url).pathname });
    const session = await fake.open({ resumeSessionId: SESSION });
    const controller = new AbortController();
    const [{ result }] = await Promise.all([takeTurn(session, 'do it', controller.signal), abortWhenReady(fake, controller)]);
    expect(kindOf(result)).toBe('turn_cancelled');
    expect(await fake.calls()).toBe(1);
  });

  it('reports nothing after it settled', async () => {
    const fake = await fakeWith([`while :; do cat "$INIT"; sleep 0.001; echo > "$FAKE_DIR/ready"; done`], {
      INIT: new URL('./fixtures/permission-denied.jsonl', import.meta.url).pathname,
    });
    const session = await fake.open();
    const controller = new AbortController();
    const [{ events }] = await Promise.all([takeTurn(session, 'x', controller.signal), abortWhenReady(fake, controller)]);
    const count = events.length;
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(events).toHaveLength(count);
  });
});

describe('stop', () => {
  it('ends a running turn and everything of the session, as often as it is called', async () => {
    const fake = await fakeWith([HANG]);
    const session = await fake.open();
    const turn = takeTurn(session);
    await expect.poll(() => existsSync(path.join(fake.dir, 'ready')), { interval: 5, timeout: 5000 }).toBe(true);
    await Promise.all([session.stop(), session.stop()]);
    expect(kindOf((await turn).result)).toBe('turn_cancelled');
    expect(isAlive(fake.started[0]!)).toBe(false);
    expect(kindOf((await takeTurn(session)).result)).toBe('turn_cancelled');
    expect(await fake.calls()).toBe(1);
  });

  it('ends what an earlier turn left running outside of its group', async () => {
    const stray = `setsid sh -c 'echo $$ > "$FAKE_DIR/stray"; exec sleep 60' >/dev/null 2>&1 &
      until [ -s "$FAKE_DIR/stray" ]; do sleep 0.01; done;`;
    const fake = await fakeWith([stray + prints('success')]);
    const session = await fake.open();
    await takeTurn(session);
    const pid = Number(await readFile(path.join(fake.dir, 'stray'), 'utf8'));
    expect(isAlive(pid)).toBe(true);
    await session.stop();
    expect(isAlive(pid)).toBe(false);
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
    const agent = claudeCodeKind.create({ ...SETTINGS, command }, claudeCodeKind.options.parse(options), fake.deps);
    const found = await agent.findProblem();
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
    expect(await fake.calls()).toBe(0);
  });

  it('does not open a session that was aborted, or whose tool server cannot be set up', async () => {
    const fake = await fakeWith([]);
    const agent = claudeCodeKind.create(SETTINGS, {}, fake.deps);
    await expect(agent.startSession(fake.request, AbortSignal.abort())).rejects.toThrow();
    await expect(fake.open({}, { mcp_config: '/no/such.json' })).rejects.toMatchObject({
      name: 'AgentError',
      kind: 'turn_failed',
    });
  });
});
