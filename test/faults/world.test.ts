import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground({ patienceMs: 30_000 });
});
afterEach(() => ground.cleanup());

const issue = (number: number) => ({ id: `${number}`, identifier: `A-${number}`, title: `Issue ${number}`, state: 'todo' });
const AGENT = 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200';

async function handedOff(number: number): Promise<void> {
  const look = async () => (await ground.readIssues()).find(({ id }) => id === `${number}`)?.['state'];
  await eventually(look, (state) => state === 'review', `the handoff of A-${number}`);
}

async function addIssue(number: number): Promise<void> {
  const others = (await ground.readIssues()).filter(({ id }) => id !== `${number}`);
  // As an editor saves: whole or not at all.
  writeFileSync(ground.path('issues.json.new'), JSON.stringify([...others, issue(number)]));
  renameSync(ground.path('issues.json.new'), ground.path('issues.json'));
}

describe('the database', { timeout: 60_000 }, () => {
  it('is locked by somebody for a while: nothing is lost, the API answers meanwhile', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await handedOff(1);
    const other = await openSqlite(ground.path('.foray.db'));
    other.exec('BEGIN EXCLUSIVE');
    await addIssue(2);
    await delay(3_000);
    const begin = performance.now();
    expect((await daemon.get('/livez')).status).toBe(200);
    expect(performance.now() - begin).toBeLessThan(3_000);
    other.exec('COMMIT');
    other.close();
    await handedOff(2);
    expect((await daemon.stop()).code).toBe(0);
  });

  it('is replaced under the daemon: it ends or goes on, and the next start tells the truth', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await handedOff(1);
    copyFileSync(ground.path('.foray.db'), ground.path('copy.db'));
    renameSync(ground.path('copy.db'), ground.path('.foray.db'));
    await addIssue(2);
    await handedOff(2);
    const { stderr } = await daemon.stop();
    expect(stderr).not.toContain('    at ');
    const next = await ground.start();
    expect((await next.get('/readyz')).status).toBe(200);
    await next.stop();
  });

  it('is overwritten with rubbish: the next start says so and touches nothing', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await handedOff(1);
    await daemon.stop();
    writeFileSync(ground.path('.foray.db'), 'x'.repeat(10_000));
    const finished = await ground.run(['WORKFLOW.md']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toMatch(/database .*\.foray\.db: /);
    expect(finished.stderr).not.toContain('    at ');
  });
});

describe('the disk', { timeout: 90_000 }, () => {
  const mounts = (): Promise<boolean> => quiet('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', ground.path('small')]);

  it('is full for a while: the daemon waits and goes on', async (test) => {
    mkdirSync(ground.path('small'));
    if (!(await mounts())) return test.skip('no right to mount here');
    try {
      const workflow = fileWorkflow({ agent: AGENT }).replace('file:\n', `db_path: ${ground.path('small/x.db')}\nfile:\n`);
      await ground.write('WORKFLOW.md', workflow);
      await ground.writeIssues([issue(1)]);
      const daemon = await ground.start();
      await handedOff(1);
      await quiet('sh', ['-c', `head -c 4000000 /dev/zero > ${ground.path('small/filler')}`]);
      await addIssue(2);
      await daemon.record('the database did not take a write, trying again');
      expect((await daemon.get('/livez')).status).toBe(200);
      rmSync(ground.path('small/filler'));
      await handedOff(2);
      expect((await daemon.stop()).code).toBe(0);
    } finally {
      await quiet('umount', ['-l', ground.path('small')]);
    }
  });

  it('cannot be written: the start says which file and what to do', async (test) => {
    mkdirSync(ground.path('small'));
    if (!(await mounts())) return test.skip('no right to mount here');
    try {
      await quiet('mount', ['-o', 'remount,ro', ground.path('small')]);
      await ground.write('WORKFLOW.md', fileWorkflow().replace('file:\n', `db_path: ${ground.path('small/x.db')}\nfile:\n`));
      await ground.writeIssues([]);
      const finished = await ground.run(['WORKFLOW.md']);
      expect(finished.code).toBe(1);
      expect(finished.stderr).toContain('small/x.db');
      expect(finished.stderr).not.toContain('    at ');
    } finally {
      await quiet('umount', ['-l', ground.path('small')]);
    }
  });
});

describe('the process', { timeout: 60_000 }, () => {
  it('is suspended for a while: polls go on afterwards', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await handedOff(1);
    daemon.signal('SIGSTOP');
    await addIssue(2);
    await delay(2_000);
    daemon.signal('SIGCONT');
    await handedOff(2);
    expect((await daemon.stop()).code).toBe(0);
  });

  it('has hardly any file descriptors: it tells, lives on and ends when told to', async () => {
    const agent = `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\nmax_turns: 1\nmax_concurrent_agents: 40\nmax_retry_backoff_ms: 200`;
    await ground.write('agent.sh', '#!/bin/sh\nsleep 1\n');
    chmodSync(ground.path('agent.sh'), 0o755);
    await ground.write('WORKFLOW.md', fileWorkflow({ agent }));
    await ground.writeIssues(Array.from({ length: 40 }, (_, index) => issue(index + 1)));
    const child = spawn('sh', ['-c', `ulimit -n 60; exec ${process.execPath} ${CLI} WORKFLOW.md`], {
      cwd: ground.dir,
      env: { PATH: process.env['PATH'], HOME: ground.dir },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await delay(5_000);
    expect(child.exitCode).toBeNull();
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await exit).toBe(0);
    expect(text).not.toContain('    at ');
  });
});

describe('the workspace', { timeout: 60_000 }, () => {
  it('is removed under a running agent: the run ends, the daemon lives on', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: AGENT, mock: 'turn_delay_ms: 800' }));
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start();
    await daemon.record('turn started');
    rmSync(ground.path('ws', 'A-1'), { recursive: true });
    await daemon.record('worker exiting');
    await handedOff(1);
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
    const finished = await Promise.race([ground.run(['--port', '0', 'WORKFLOW.md']), stopAfter(4_000)]);
    if (finished !== null) {
      expect(finished.code).toBe(1);
      expect(finished.stderr).not.toContain('    at ');
      return;
    }
    rmSync(ground.path('ws'), { force: true });
    await handedOff(1);
  });
});

async function stopAfter(ms: number): Promise<null> {
  await delay(ms);
  return null;
}

/** Whether a command went well. */
function quiet(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
