import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { fileIssues, slowestAnswer, type FileIssues } from './file-issues.ts';
import {
  coverReadOnly,
  NO_MOUNT,
  openBreakingDisk,
  openSmallDisk,
  type BreakingDisk,
  type Disk,
  type SmallDisk,
} from './mounts.ts';

let ground: Playground;
let issues: FileIssues;
const disks: Disk[] = [];
beforeEach(async () => {
  ground = await createPlayground({ patienceMs: 30_000 });
  issues = fileIssues(ground);
});
afterEach(async () => {
  for (const disk of disks.splice(0)) await disk.close();
  await ground.cleanup();
});

/** All of it by `npm run test:faults`; the suite is less patient. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
/** A busy machine may be slow; a daemon that waits for the disk would be as slow as the disk. */
const SLOWEST_MS = 2_000;
const AGENT = 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200';
const DATABASE_BYTES = 3 * 1024 * 1024;

async function smallDisk(test: TestContext, bytes = DATABASE_BYTES): Promise<SmallDisk> {
  const disk = await openSmallDisk(ground.path('small'), bytes);
  disks.push(disk);
  if (!disk.isThere) test.skip(NO_MOUNT);
  return disk;
}

async function breakingDisk(test: TestContext): Promise<BreakingDisk> {
  const disk = await openBreakingDisk(ground.path('small'));
  disks.push(disk);
  if (!disk.isThere) test.skip(NO_MOUNT);
  return disk;
}

/** The database is on the disk, everything else is not. */
function withDatabase(sections: Readonly<Record<string, string>>): string {
  return fileWorkflow(sections).replace('file:\n', `db_path: ${ground.path('small/x.db')}\nfile:\n`);
}

async function startWithTurn(mock = 'turn_delay_ms: 1000'): Promise<RunningDaemon> {
  await ground.write('WORKFLOW.md', withDatabase({ agent: AGENT, mock }));
  await issues.add(1);
  const daemon = await ground.start();
  await daemon.record('turn started');
  return daemon;
}

/** That the database takes no write is told to who looks at the log, to probes and on the page. */
async function expectTold(daemon: RunningDaemon, why: RegExp): Promise<void> {
  const told = await daemon.record('the database did not take a write, trying again');
  expect(told['error']).toMatch(why);
  expect(await slowestAnswer(daemon, 500)).toBeLessThan(SLOWEST_MS);
  const ready = await daemon.get('/readyz');
  expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { database: 'fail' } }]);
  expect(await (await daemon.get('/')).text()).toMatch(why);
}

describe('the disk of the database', { timeout: 90_000 }, () => {
  it('is full for a while: the daemon says so, waits and goes on', async (test) => {
    const disk = await smallDisk(test);
    const daemon = await startWithTurn();
    await disk.fill();
    await expectTold(daemon, /small\/x\.db: has no room left/);
    rmSync(ground.path('small/filler'));
    await issues.handedOff(1);
    expect((await daemon.get('/readyz')).status).toBe(200);
    expect((await daemon.stop()).code).toBe(0);
  });

  it.runIf(FULL)('stays full: the daemon ends and says why, and the next one goes on', { timeout: 180_000 }, async (test) => {
    const disk = await smallDisk(test);
    const daemon = await startWithTurn();
    await disk.fill();
    const { code, stderr } = await daemon.exited;
    expect([code, stderr.match(/^ {4}at /m)]).toEqual([1, null]);
    expect(stderr).toMatch(/x\.db.*disk/);
    rmSync(ground.path('small/filler'));
    const next = await ground.start();
    await issues.handedOff(1);
    expect((await next.stop()).code).toBe(0);
  });

  it('cannot be written: the start says which file and what to do', async (test) => {
    const disk = await smallDisk(test);
    await disk.setReadOnly();
    await ground.write('WORKFLOW.md', withDatabase({}));
    await ground.writeIssues([]);
    const finished = await ground.run(['WORKFLOW.md']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toContain('small/x.db');
    expect(finished.stderr).not.toContain('    at ');
  });

  it('turns read-only while the daemon runs: told, nothing is begun, and the next daemon goes on after the repair', async (test) => {
    const disk = await breakingDisk(test);
    const daemon = await startWithTurn();
    if (!(await disk.turnReadOnly())) return test.skip('this system lets no disk break');
    await issues.add(2);
    await expectTold(daemon, /small\/x\.db: (?:cannot be written|could not be read or written)/);
    expect((await ground.readIssues()).map(({ state }) => state)).toEqual(['todo', 'todo']);
    const { code, stderr } = await daemon.stop();
    expect([code, stderr.match(/^ {4}at /m)]).toEqual([1, null]);
    expect(await disk.repair()).toBe(true);
    const next = await ground.start();
    for (const number of [1, 2]) await issues.handedOff(number);
    const { code: end, records } = await next.stop();
    const handedOver = records.filter(({ msg }) => msg === 'handoff transition succeeded, releasing claim');
    expect([end, handedOver.map((record) => record['issue_id']).toSorted()]).toEqual([0, ['1', '2']]);
  });
});

describe('the disk of the workspaces', { timeout: 90_000 }, () => {
  it('turns read-only while an agent works: nothing new starts, which is told, and all goes on when it can be written', async (test) => {
    const root = ground.path('ws');
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT, mock: 'turn_delay_ms: 1000' }));
    await issues.add(1);
    const daemon = await ground.start();
    await daemon.record('turn started');
    const cover = await coverReadOnly(root);
    disks.push(cover);
    if (!cover.isThere) return test.skip(NO_MOUNT);
    await issues.add(2);
    const told = await daemon.record('dispatch preflight failed, nothing is dispatched');
    expect(told['problem']).toMatch(/\/ws is not writable: the file system is read-only/);
    const ready = await daemon.get('/readyz');
    expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { preflight: 'fail' } }]);
    expect(await (await daemon.get('/')).text()).toContain('the file system is read-only');
    // Nothing of it has to be written for the one that ran.
    await issues.handedOff(1);
    await issues.set(1, 'done');
    await daemon.record('workspace could not be removed', { issue_id: '1' });
    expect((await ground.readIssues()).map(({ state }) => state)).toEqual(['done', 'todo']);
    await cover.close();
    await issues.handedOff(2);
    await eventually(
      () => existsSync(`${root}/A-1`),
      (isThere) => !isThere,
      'the cleanup',
    );
    expect((await daemon.stop()).code).toBe(0);
  });

  it('is full: runs fail with the reason and the place, no half-made workspace is worked in, and all goes on with room', async (test) => {
    const disk = await smallDisk(test, 400_000);
    const root = ground.path('small', 'ws');
    // What a checkout does: more than there is room for at first.
    const hooks = 'after_create: |\n  mkdir part\n  head -c 200000 /dev/zero > part/whole || exit 7';
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT, workspace: `root: ${root}`, hooks }));
    await issues.add(1);
    await disk.fill();
    const daemon = await ground.start();
    const full = await daemon.record('retry scheduled', { attempt: '1' });
    expect(full['error']).toMatch(/workspace\.root .*small\/ws: the disk is full/);
    // Room for the directory, and not for all that the hook brings.
    truncateSync(ground.path('small/filler'), 300_000);
    await daemon.record('hook failed', { hook: 'after_create' });
    rmSync(ground.path('small/filler'));
    await issues.handedOff(1);
    expect(statSync(`${root}/A-1/part/whole`).size).toBe(200_000);
    expect(readdirSync(root).filter((name) => name.startsWith('+'))).toEqual([]);
    expect((await daemon.stop()).code).toBe(0);
  });
});

describe('the disk of the log', { timeout: 60_000 }, () => {
  it('turns read-only under the daemon: it works on and ends when told to', async (test) => {
    const disk = await breakingDisk(test);
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([]);
    const child = spawn(process.execPath, [CLI, 'WORKFLOW.md'], {
      cwd: ground.dir,
      env: { PATH: process.env['PATH'], HOME: ground.dir },
      stdio: ['ignore', 'ignore', openSync(ground.path('small/log'), 'a')],
    });
    test.onTestFinished(() => void child.kill('SIGKILL'));
    const said = () => ground.read('small/log');
    await eventually(said, (text) => text.includes('tick completed'), 'the first poll');
    if (!(await disk.turnReadOnly())) return test.skip('this system lets no disk break');
    await issues.add(1);
    await issues.handedOff(1);
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await exit).toBe(0);
    expect(await said()).not.toContain('A-1');
  });
});
