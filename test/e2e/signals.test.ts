import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

it.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second %s ends at once with %d, and takes its processes along', async (signal, code) => {
  const hooks = `before_run: |\n  trap '' TERM INT HUP\n  echo $$ > ${ground.path('hook.pid')}\n  sleep 600`;
  await ground.write('WORKFLOW.md', fileWorkflow({ hooks, agent: 'kind: mock\nstop_grace_ms: 60000' }));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
  const daemon = await ground.start();
  await eventually(() => existsSync(ground.path('hook.pid')), Boolean, 'the hook');
  const pid = Number(
    await eventually(
      () => ground.read('hook.pid'),
      (text) => text.trim() !== '',
      'its pid',
    ),
  );
  daemon.signal(signal);
  await daemon.record('draining');
  daemon.signal(signal);
  expect((await daemon.exited).code).toBe(code);
  await eventually(
    () => isAlive(pid),
    (alive) => !alive,
    'the end of the hook',
  );
});

it('explain says of a service that is stopping that it is, and that nothing starts for that', async () => {
  const hooks = `before_run: |\n  trap '' TERM INT HUP\n  echo $$ > ${ground.path('hook.pid')}\n  sleep 600`;
  const agent = 'kind: mock\nstop_grace_ms: 60000\nmax_concurrent_agents: 1';
  await ground.write('WORKFLOW.md', fileWorkflow({ hooks, agent }));
  await ground.writeIssues(['1', '2'].map((id) => ({ id, identifier: `A-${id}`, title: 'First', state: 'todo' })));
  const daemon = await ground.start();
  await eventually(() => existsSync(ground.path('hook.pid')), Boolean, 'the hook');
  daemon.signal('SIGTERM');
  await daemon.record('draining');
  const { stdout } = await eventually(
    () => ground.run(['explain', 'A-2']),
    ({ stderr }) => /^service: stopping \(pid \d+/m.test(stderr),
    'the head line of explain',
  );
  expect(stdout).toMatch(/^A-2 \(todo\): draining\n {2}why: +the service is stopping/);
  expect(stdout).toContain('remedy: wait for a standby to take over, or start the service again');
  daemon.signal('SIGTERM');
  await daemon.exited;
});

it('an interrupt during start-up ends it', async () => {
  const { createServer } = await import('node:net');
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const tracker = `kind: gitea\nendpoint: http://127.0.0.1:${port}\napi_key: aaaaaaaaaaaaaaaa\nproject: o/r\nactive_states: [todo]\nterminal_states: [done]`;
  await ground.write('WORKFLOW.md', fileWorkflow({ tracker }));
  const daemon = await ground.start([], { until: 'database path resolved' });
  daemon.signal('SIGINT');
  expect((await daemon.exited).code).toBe(0);
  silent.close();
});

it('an interrupt while the demo starts ends it, and its folder goes', async () => {
  const folder = ground.path('tmp');
  mkdirSync(folder);
  const demo = spawn(process.execPath, [CLI, 'demo', '--port', '0'], {
    env: { ...process.env, TMPDIR: folder },
    stdio: 'ignore',
  });
  const ended = once(demo, 'exit');
  await eventually(() => readdirSync(folder).length, Boolean, 'its folder');
  demo.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(readdirSync(folder)).toEqual([]);
});

it('SIGUSR1, which any agent can send, opens no debugger', async () => {
  await ground.write('WORKFLOW.md', fileWorkflow({}));
  await ground.writeIssues([]);
  const daemon = await ground.start();
  daemon.signal('SIGUSR1');
  daemon.signal('SIGINT');
  const { code } = await daemon.exited;
  expect(code).toBe(0);
  expect(daemon.stderr()).not.toContain('Debugger listening');
});
