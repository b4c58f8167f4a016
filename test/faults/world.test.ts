import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';
import { fileIssues, slowestAnswer, type FileIssues } from './file-issues.ts';

let ground: Playground;
let issues: FileIssues;
beforeEach(async () => {
  ground = await createPlayground({ patienceMs: 30_000 });
  issues = fileIssues(ground);
});
afterEach(() => ground.cleanup());

const issue = (number: number) => ({ id: `${number}`, identifier: `A-${number}`, title: `Issue ${number}`, state: 'todo' });
/** All of it by `npm run test:faults`; the suite is less patient. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const LOCK_MS = FULL ? 20_000 : 3_000;
/** A busy machine may be slow; a daemon that waits for the lock would be as slow as the lock. */
const SLOWEST_MS = 2_000;
const AGENT = 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200';

describe('the database', { timeout: 60_000 }, () => {
  it(`is locked for ${LOCK_MS / 1_000} s when a turn ends: nothing is lost, /livez answers throughout`, async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT, mock: 'turn_delay_ms: 1500' }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await daemon.record('turn started');
    const other = await openSqlite(ground.path('.foray.db'));
    other.exec('BEGIN EXCLUSIVE');
    const slowest = await slowestAnswer(daemon, LOCK_MS);
    await daemon.record('the database did not take a write, trying again');
    other.exec('COMMIT');
    other.close();
    expect(slowest).toBeLessThan(SLOWEST_MS);
    await issues.handedOff(1);
    const { code, stderr } = await daemon.stop();
    expect([code, stderr.match(/^ {4}at /m)]).toEqual([0, null]);
    expect(stderr.match(/releasing claim/g)).toHaveLength(1);
  });

  it(`is read by another in one transaction for ${LOCK_MS / 1_000} s: nothing waits for that, and nothing is lost`, async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await issues.handedOff(1);
    const reader = await openSqlite(ground.path('.foray.db'), { readOnly: true });
    const runs = (): number => Number(reader.get('SELECT count(*) AS runs FROM runs')?.runs);
    reader.exec('BEGIN');
    expect(runs()).toBe(1);
    await issues.add(2);
    await issues.handedOff(2);
    const slowest = await slowestAnswer(daemon, LOCK_MS);
    // It still sees what was there when it began, and held nobody up.
    expect(runs()).toBe(1);
    reader.exec('COMMIT');
    expect(runs()).toBe(2);
    reader.close();
    expect(slowest).toBeLessThan(SLOWEST_MS);
    const { code, stderr } = await daemon.stop();
    expect(code).toBe(0);
    expect(stderr).not.toContain('the database did not take a write');
    expect(stderr.match(/releasing claim/g)).toHaveLength(2);
  });

  it('is removed under the daemon: nothing is begun that nobody would remember, and it goes on when the file is back', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await issues.handedOff(1);
    renameSync(ground.path('.foray.db'), ground.path('elsewhere.db'));
    await issues.add(2);
    const told = await daemon.record('the database did not take a write, trying again');
    expect(told['error']).toMatch(/\.foray\.db: was removed under the service: put it back/);
    expect((await daemon.json('/readyz'))['checks']).toMatchObject({ database: 'fail' });
    expect((await ground.readIssues()).map(({ state }) => state)).toEqual(['review', 'todo']);
    renameSync(ground.path('elsewhere.db'), ground.path('.foray.db'));
    await issues.handedOff(2);
    expect((await daemon.stop()).code).toBe(0);
  });

  it.each([
    ['replaced by another', replaceByCopy, /was replaced under the service: restart/],
    ['cut to nothing', (file: string) => truncateSync(file, 0), /was emptied under the service: restart/],
  ])('is %s under the daemon: that is told, and the next start tells the truth', async (_how, spoil, reason) => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await issues.handedOff(1);
    spoil(ground.path('.foray.db'));
    await issues.add(2);
    expect((await daemon.record('the database did not take a write, trying again'))['error']).toMatch(reason);
    const { code, stderr } = await daemon.stop();
    expect([code, stderr.match(/^ {4}at /m)]).toEqual([1, null]);
    const next = await ground.start();
    await issues.handedOff(2);
    expect((await next.stop()).code).toBe(0);
  });

  it('is overwritten with rubbish: the next start says so and touches nothing', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    await (await ground.start()).stop();
    // Now everything stands in the file itself.
    const daemon = await ground.start();
    await daemon.record('tick completed');
    writeFileSync(ground.path('.foray.db'), 'x'.repeat(10_000));
    const { stderr } = await daemon.stop();
    expect(stderr).not.toContain('    at ');
    const finished = await ground.run(['WORKFLOW.md']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toMatch(/database .*\.foray\.db: /);
    expect(finished.stderr).not.toContain('    at ');
  });
});

function replaceByCopy(file: string): void {
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
}

/** Loaded before the daemon: the wall clock is off by as many milliseconds as a file says. */
const SHIFTED_CLOCK = `const { readFileSync } = require('node:fs');
const now = Date.now;
const by = () => { try { return Number(readFileSync(process.env.CLOCK_FILE, 'utf8')) || 0; } catch { return 0; } };
Date.now = () => now() + by();
`;

describe('the clock', { timeout: 60_000 }, () => {
  it('is set back and forward by an hour: polls go on, and no turn is ended for it', async () => {
    const preload = await ground.write('clock.cjs', SHIFTED_CLOCK);
    const agent = `${AGENT}\nturn_timeout_ms: 60000\nstall_timeout_ms: 60000`;
    await ground.write('WORKFLOW.md', fileWorkflow({ agent, mock: 'turn_delay_ms: 500' }));
    await ground.writeIssues([issue(1)]);
    const env = { NODE_OPTIONS: `--require ${preload}`, CLOCK_FILE: ground.path('clock') };
    const daemon = await ground.start(undefined, { env });
    for (const [index, hours] of [-1, 1, 0].entries()) {
      await daemon.record('turn started', { issue_identifier: `A-${index + 1}` });
      writeFileSync(ground.path('clock'), String(hours * 3_600_000));
      await issues.add(index + 2);
      await issues.handedOff(index + 1);
    }
    await issues.handedOff(4);
    const { code, records } = await daemon.stop();
    expect([code, records.filter(({ msg }) => msg === 'retry scheduled')]).toEqual([0, []]);
  });
});

/** Plays Claude Code: takes a second over its work in the directory that it was started in, and says that all is well. */
const WORKING_AGENT = `#!/bin/sh
echo $$ >> "$AGENT_PIDS"
cat > /dev/null
say() { printf '{%s,"session_id":"00000000-0000-4000-8000-000000000000"%s}\\n' "$1" "$2"; }
say '"type":"system","subtype":"init"' ',"model":"m","tools":[],"mcp_servers":[]'
sleep 1
echo done > work
say '"type":"assistant"' ',"message":{"id":"m1","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":1,"output_tokens":1}}'
say '"type":"result","subtype":"success","is_error":false' ',"result":"done","usage":{"input_tokens":1,"output_tokens":1}'
`;

/** More sessions than there are descriptors for. */
const MANY = 25;

describe('the process', { timeout: 60_000 }, () => {
  it('has hardly any file descriptors: it tells, lives on, and hands everything over once fewer run at once', async () => {
    await ground.write('agent.sh', WORKING_AGENT);
    chmodSync(ground.path('agent.sh'), 0o755);
    const agentOf = (atOnce: number): string =>
      `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\nmax_turns: 1\nmax_concurrent_agents: ${atOnce}\nmax_retry_backoff_ms: 200`;
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: agentOf(MANY) }));
    await ground.writeIssues(Array.from({ length: MANY }, (_, index) => issue(index + 1)));
    const child = spawn('sh', ['-c', `ulimit -n 60; exec ${process.execPath} ${CLI} WORKFLOW.md`], {
      cwd: ground.dir,
      env: { PATH: process.env['PATH'], HOME: ground.dir, AGENT_PIDS: '/dev/null' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await eventually(
      () => text,
      (said) => /EMFILE|too many open files/i.test(said),
      'word of it',
    );
    expect(child.exitCode).toBeNull();
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: agentOf(5) }));
    const left = async () => (await ground.readIssues()).filter(({ state }) => state !== 'review').length;
    await eventually(left, (count) => count === 0, 'every handoff');
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await exit).toBe(0);
    expect(text).not.toContain('    at ');
  });
});

describe('the workspace', { timeout: 60_000 }, () => {
  it('is removed under a running agent: the run fails, its agent ends, and the next one works in a new one', async () => {
    await ground.write('agent.sh', WORKING_AGENT);
    chmodSync(ground.path('agent.sh'), 0o755);
    const agent = `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\nmax_turns: 1\nmax_retry_backoff_ms: 200`;
    await ground.write('WORKFLOW.md', fileWorkflow({ agent }));
    await issues.add(1);
    const daemon = await ground.start(undefined, { env: { AGENT_PIDS: ground.path('pids') } });
    const pids = async () => (await ground.read('pids').catch(() => '')).split('\n').filter(Boolean).map(Number);
    const [first = 0] = await eventually(pids, (found) => found.length === 1, 'the agent');
    rmSync(ground.path('ws', 'A-1'), { recursive: true });
    const again = await daemon.record('retry scheduled');
    expect(again['error']).toMatch(/the workspace of A-1 is gone; it is made again at the next attempt/);
    expect(isAlive(first)).toBe(false);
    await issues.handedOff(1);
    expect([(await pids()).length, await ground.read('ws/A-1/work')]).toEqual([2, 'done\n']);
    expect((await daemon.stop()).code).toBe(0);
  });

  it.each([
    ['a file stands in its way', () => writeFileSync(ground.path('ws'), '')],
    ['it is a link that leads nowhere', () => symlinkSync('/nowhere/at/all', ground.path('ws'))],
    ['it is a link to itself', () => symlinkSync(ground.path('ws'), ground.path('ws'))],
  ])('has a root that cannot be used, %s: that is said, and the daemon ends when told to', async (_name, make) => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    make();
    const daemon = await ground.start();
    const told = await daemon.record('dispatch preflight failed, nothing is dispatched');
    expect(told['problem']).toContain(`workspace.root ${ground.path('ws')}`);
    rmSync(ground.path('ws'), { force: true });
    await issues.handedOff(1);
    expect((await daemon.stop()).code).toBe(0);
  });
});
