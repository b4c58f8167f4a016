import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { runHere } from '../support/command.ts';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { textOf } from '../support/page-text.ts';

const TOKEN = 'what-opens-the-door';
const SECTIONS = { mock: 'outcomes_by_issue:\n  A-1: [hang]', server: 'token: $DOOR' };
const ISSUES = [{ id: '1', identifier: 'A-1', title: 'Hangs', state: 'todo' }];

let ground: Playground;
let daemon: RunningDaemon;
let file: string;
beforeAll(async () => {
  ground = await createPlayground();
  file = await ground.write('WORKFLOW.md', fileWorkflow(SECTIONS));
  await ground.writeIssues(ISSUES);
  daemon = await ground.start(['--port', '0'], { env: { DOOR: TOKEN } });
  await daemon.record('turn started');
});
afterAll(() => ground.cleanup());
afterEach(() => vi.unstubAllEnvs());

/** A command hides the credentials it has read from its own environment, so that they are set before each. */
function here(...argv: readonly string[]) {
  vi.stubEnv('DOOR', TOKEN);
  return runHere(...argv);
}

const get = (route: string) => daemon.get(route, { headers: { authorization: `Bearer ${TOKEN}` } });

interface Status {
  readonly service: { readonly running: boolean };
  readonly problems: readonly { readonly what: string; readonly message: string }[];
}

const status = async (): Promise<Status> => JSON.parse((await here('status', file, '--format', 'json')).stdout) as Status;

describe('beside a service that asks for a token', () => {
  it.each([
    [
      ['status'],
      [
        'service',
        'workflow_path',
        'problems',
        'paused',
        'agent_pauses',
        'running',
        'retrying',
        'parked',
        'watched',
        'totals',
        'holds',
        'last_poll_at',
      ],
    ],
    [['explain'], null],
    [['explain', 'A-1'], null],
    [['stats'], ['since', 'by', 'total', 'groups']],
    [
      ['logs', 'A-1'],
      ['identifier', 'runs'],
    ],
    [
      ['plan', 'WORKFLOW.md'],
      ['start', 'stop', 'changes'],
    ],
    [['doctor'], ['ok', 'findings']],
  ])('%j is a table without colour, and with --format json one answer with stable names', async (argv, names) => {
    const args = argv.map((word) => (word === 'WORKFLOW.md' ? file : word));
    const text = await here(...args, file);
    expect(text.stdout).not.toContain('\u001B');
    expect(text.stdout.trim().split('\n').length).toBeGreaterThan(0);
    if (argv[0] !== 'doctor') expect(text.stdout + text.stderr).toContain(`service: running (pid ${daemon.pid}`);
    const answer = JSON.parse((await here(...args, file, '--format', 'json')).stdout) as object;
    if (names === null) expect(answer).toMatchObject([{ identifier: 'A-1', reason: 'running' }]);
    else expect(Object.keys(answer)).toEqual(names);
  });

  it('a sole argument of explain that is a file is the workflow path', async () => {
    expect((await here('explain', file)).stdout).toMatch(/^ISSUE .*\nA-1 /);
  });

  it('one that is too long for the name of a file is an issue', async () => {
    const name = 'x'.repeat(300);
    const unknown = await ground.run(['explain', name], { env: { DOOR: TOKEN } });
    expect(unknown).toMatchObject({ code: 1, stdout: expect.stringContaining(`${name}: unknown\n`) as string });
  });

  it('a terminal has bold headings, not with NO_COLOR; the workflow file is ./WORKFLOW.md', async ({ skip }) => {
    if (!existsSync('/usr/bin/script')) return skip('no script program gives a terminal on this machine');
    const at = async (env: Record<string, string>): Promise<string> => {
      const shell = { cwd: ground.dir, env: { PATH: process.env['PATH'], TERM: 'xterm', DOOR: TOKEN, ...env } };
      return (await promisify(execFile)('/usr/bin/script', ['-qec', `${process.execPath} ${CLI} status`, '/dev/null'], shell))
        .stdout;
    };
    const bold = await at({});
    expect(bold).toContain('\u001B[1m');
    expect(bold).toContain('Running (1)');
    const plain = await at({ NO_COLOR: '1' });
    expect(plain).toContain('Running (1)');
    expect(plain).not.toContain('\u001B');
  });
});

describe('status --watch at a terminal', () => {
  it('clears what is seen each time, and leaves alone what has scrolled away', async ({ skip }) => {
    if (!existsSync('/usr/bin/script')) return skip('no script program gives a terminal on this machine');
    const shell = { cwd: ground.dir, env: { PATH: process.env['PATH'], TERM: 'xterm', DOOR: TOKEN } };
    const child = spawn('/usr/bin/script', ['-qec', `${process.execPath} ${CLI} status --watch`, '/dev/null'], shell);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(/Running \(1\)[^]*Running \(1\)/);
    child.kill();
    expect(said).toContain('\u001B[H\u001B[2J');
    expect(said).not.toContain('\u001B[3J');
  });
});

describe('beside a service that runs', () => {
  const explained = (said: { readonly stdout: string }): unknown => JSON.parse(said.stdout);
  const RUNNING = [{ identifier: 'A-1', state: 'todo', reason: 'running', since: expect.any(String) as string }];

  it('a tracker that cannot be read keeps explain only from what the database does not know', async () => {
    await ground.write('issues.json', '[{"id": "1",]');
    const known = await here('explain', 'A-1', file);
    expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^A-1 \(todo\): running\n/) as string });
    expect(known.stderr).toMatch(
      /^service: running .*\nforay: the tracker was not read; this is what the database holds: .*tracker_payload_error.*\n$/,
    );
    expect(explained(await here('explain', file, '--format', 'json'))).toMatchObject(RUNNING);
    const unknown = await here('explain', 'A-2', file);
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toMatch(/^foray: .*tracker_payload_error/);
    await ground.writeIssues(ISSUES);
  });

  it('so does a credential that the command does not have', async () => {
    const known = await runHere('explain', 'A-1', file, '--format', 'json');
    expect([known.code, explained(known)]).toMatchObject([0, RUNNING]);
    expect(JSON.parse(known.stderr)).toMatchObject({
      level: 'WARN',
      msg: 'the tracker was not read; this is what the database holds',
      error: expect.stringContaining('server.token') as string,
    });
    expect(await runHere('explain', 'A-2', file)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: server\.token/) as string,
    });
  });

  it('a file that cannot be read at all keeps nobody from asking it', async () => {
    const before = await ground.read('WORKFLOW.md');
    await ground.write('WORKFLOW.md', '---\ntracker: [\n---\nWork.\n');
    const note = /^foray: the workflow file cannot be read; the running service is asked: error: workflow\.yaml: .*\(line \d+/m;
    const rejected = await eventually(status, ({ problems }) => problems.some(({ what }) => what === 'workflow'));
    expect(rejected.service.running).toBe(true);
    for (const argv of [['status'], ['stats'], ['logs', 'A-1'], ['pause'], ['resume']]) {
      const said = await here(...argv, file);
      expect([argv, said.code, said.stderr]).toEqual([argv, 0, expect.stringMatching(note)]);
    }
    for (const argv of [
      ['retry', 'A-9'],
      ['unpark', 'A-9'],
      ['stop', 'A-9'],
    ])
      expect((await here(...argv, file)).stderr, argv[0]).toMatch(/A-9/);
    expect(explained(await here('explain', 'A-1', file, '--format', 'json'))).toMatchObject(RUNNING);
    // The service of another file says nothing of this one.
    const other = await ground.write('OTHER.md', '---\ntracker: [\n---\nWork.\n');
    for (const command of ['status', 'pause', 'explain'])
      expect(await here(command, other), command).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^error: workflow\.yaml/) as string,
      });
    await ground.write('WORKFLOW.md', before);
    await eventually(status, ({ problems }) => problems.length === 0, 'no problem');
  });
});

describe('what keeps the service back is told by the log, status, the probe and the page', () => {
  const page = async (): Promise<string> => textOf(await (await get('/')).text());
  const told = (what: string, message: RegExp) =>
    eventually(
      status,
      ({ problems }) => problems.some((problem) => problem.what === what && message.test(problem.message)),
      what,
    );

  it('an edit that is broken', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ ...SECTIONS, agent: 'kind: mokc' }));
    await daemon.record('workflow edit rejected, the last good one stays in force');
    const { problems } = await told(
      'workflow',
      /agent\.kind: unknown agent kind "mokc".*did you mean mock\? \(line \d+, column \d+\)/,
    );
    const place = { file, line: expect.any(Number) as number, column: expect.any(Number) as number };
    expect(problems).toMatchObject([place]);
    expect(await (await get('/api/v2/workflow')).json()).toMatchObject({ problems: [{ check: 'agent.kind', ...place }] });
    expect(await (await get('/readyz')).json()).toMatchObject({ workflow_error: expect.stringContaining('mokc') as string });
    expect(await page()).toContain('The last edit of the workflow file was not taken');
  });

  it('an agent program that is not there', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ ...SECTIONS, agent: 'kind: claude-code\ncommand: no-such-program' }));
    await told('preflight', /cannot find the program no-such-program: install/);
    expect((await status()).problems.map(({ what }) => what)).not.toContain('workflow');
    expect((await get('/readyz')).status).toBe(503);
    expect(await page()).toContain('Nothing is dispatched. cannot find the program no-such-program');
    expect((await here('status', file)).stdout).toMatch(/^PROBLEM \(preflight\) since .*no-such-program/m);
  });

  it('a tracker that cannot be read', async () => {
    await ground.write('issues.json', '[{"id": "1",]');
    const { remedy } = await daemon.record('poll failed, nothing dispatched until the next one');
    expect(remedy).toContain('foray doctor');
    await told('tracker', /tracker_payload_error.*line 1/);
    expect(await page()).toMatch(/The last poll failed\. tracker: tracker_payload_error.*foray doctor tells more/);
  });

  it('and no longer, once all is mended', async () => {
    await ground.writeIssues(ISSUES);
    await ground.write('WORKFLOW.md', fileWorkflow(SECTIONS));
    await eventually(status, ({ problems }) => problems.length === 0, 'no problem');
    expect((await get('/readyz')).status).toBe(200);
  });

  it('a misspelt key, at an applied edit, by a record and a banner', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ ...SECTIONS, agents: 'kind: mock' }));
    const { message } = await daemon.record('workflow warning', { check: 'config.unknown_key' });
    expect(message).toContain('unknown key `agents`; did you mean `agent`?');
    await eventually(page, (text) => text.includes('unknown key `agents`; did you mean `agent`?'), 'the banner');
    const { warnings } = (await (await get('/api/v2/workflow')).json()) as { warnings: readonly string[] };
    expect(warnings).toEqual([expect.stringContaining('config.unknown_key')]);
    await daemon.stop();
  });
});
