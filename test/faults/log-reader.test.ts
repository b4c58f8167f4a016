import { spawn, type ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, createPlayground, eventually, fileWorkflow, freePort, type Playground } from '../support/daemon.ts';

let ground: Playground;
const children: ChildProcess[] = [];
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await ground.cleanup();
});

/** Issues that keep the daemon logging, and where its API answers. */
async function start(stderr: 'pipe' | number): Promise<{ child: ChildProcess; url: string }> {
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 1', polling: 'interval_ms: 50' }));
  await ground.writeIssues([]);
  const port = await freePort();
  const child = spawn(process.execPath, [CLI, '--port', String(port), '--log-level', 'debug', 'WORKFLOW.md'], {
    cwd: ground.dir,
    env: { PATH: process.env['PATH'], HOME: ground.dir },
    stdio: ['ignore', 'ignore', stderr],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/livez`).then(
      (answer) => answer.ok,
      () => false,
    );
  await eventually(async () => child.exitCode !== null || (await answers()), Boolean, 'the server');
  // Somebody else may have taken the port meanwhile.
  return child.exitCode === null ? { child, url } : start(stderr);
}

/** A whole session runs, and an interrupt ends the daemon in good order. */
async function worksAndStops({ child }: { child: ChildProcess }): Promise<void> {
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
  const handedOff = async () => (await ground.readIssues())[0]?.['state'];
  await eventually(handedOff, (state) => state === 'review', 'the handoff');
  expect(child.exitCode).toBeNull();
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  expect(await exit).toBe(0);
}

describe('who reads the log', () => {
  it('goes away: the daemon works on', async () => {
    const running = await start('pipe');
    running.child.stderr?.destroy();
    await worksAndStops(running);
  });

  it('has no room left: the daemon works on', async () => {
    await worksAndStops(await start(openSync('/dev/full', 'w')));
  });

  it('stops reading: the daemon works on and still ends', async () => {
    const running = await start('pipe');
    running.child.stderr?.pause();
    // One record each: more than a pipe holds.
    const held = { title: 'x'.repeat(200), state: 'todo', blocked_by: [{ id: 'none', identifier: 'NONE-1' }] };
    await ground.writeIssues(Array.from({ length: 3_000 }, (_, n) => ({ id: `${n + 9}`, identifier: `B-${n}`, ...held })));
    const metrics = async () => (await fetch(`${running.url}/metrics`)).text();
    await eventually(metrics, (text) => /^svc_candidate_holds_total\{.*\} [1-9]/m.test(text), 'the poll');
    await worksAndStops(running);
  });
});
