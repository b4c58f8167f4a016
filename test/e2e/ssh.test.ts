import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSsh, type FakeSsh } from '../support/fake-ssh.ts';
import { createPlayground, eventually, fileWorkflow, TOOL_PATH, type Playground } from '../support/daemon.ts';
import { checkSshHosts } from '../support/ssh-hosts.ts';

let ground: Playground;
let ssh: FakeSsh;
beforeEach(async () => {
  ground = await createPlayground({ patienceMs: 30_000 });
  ssh = await createFakeSsh();
});
afterEach(async () => {
  await ground.cleanup();
  await ssh.remove();
});

describe('agents on hosts over ssh', () => {
  it('work in workspaces there, move when a host is gone, and end when they are told to', { timeout: 90_000 }, async () => {
    const homes = { one: await ssh.homeOf('one'), two: await ssh.homeOf('two') };
    await checkSshHosts({ ground, homes, path: `${ssh.folder}:${TOOL_PATH}`, setReachable: ssh.setReachable });
    expect(ssh.folder).not.toBe('');
  });

  it('is told by explain that all hosts are full, and by doctor which of them cannot be used', { timeout: 60_000 }, async () => {
    const home = await ssh.homeOf('one');
    await mkdir(path.join(home, '.local', 'bin'), { recursive: true });
    await writeFile(path.join(home, '.local', 'bin', 'claude'), '#!/bin/sh\nexec sleep 300\n', { mode: 0o755 });
    const env = { PATH: `${ssh.folder}:${TOOL_PATH}`, ANTHROPIC_API_KEY: 'sk' };
    const workflow = (hosts: string): string =>
      fileWorkflow({
        agent: 'kind: claude-code\nmax_turns: 1\nmax_retry_backoff_ms: 3000\nstop_grace_ms: 500',
        worker: `ssh_hosts: ${hosts}\nssh_root: ~/work\nmax_concurrent_agents_per_host: 1`,
        hooks: 'after_create: test "$FORAY_ISSUE_IDENTIFIER" = A-2',
      });
    await ground.write('WORKFLOW.md', workflow('[one]'));
    const issue = (n: number) => ({ id: String(n), identifier: `A-${n}`, title: `Issue ${n}`, state: 'todo' });
    await ground.writeIssues([issue(1)]);
    const daemon = await ground.start(['--port', '0'], { env });
    await daemon.record('retry scheduled', { issue_identifier: 'A-1' });
    await ground.writeIssues([issue(1), issue(2)]);
    const explained = await eventually(
      async () => (await ground.run(['explain', 'A-1'], { env })).stdout,
      (text) => text.includes('no_global_slot'),
      'the hosts to be full',
    );
    expect(explained).toContain('every host of worker.ssh_hosts has all the runs it may have');
    expect(explained).toContain('worker.max_concurrent_agents_per_host');
    expect(explained).not.toContain('until:');
    await daemon.stop();

    const doctor = async () => {
      const { stdout } = await ground.run(['doctor', '--format', 'json'], { env });
      const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; message: string }[] };
      return findings.filter(({ check }) => check === 'agent' || check === 'worker.ssh_hosts');
    };
    expect(await doctor()).toMatchObject([{ check: 'agent', status: 'ok' }]);
    await ssh.setReachable('two', false);
    await ground.write('WORKFLOW.md', workflow('[one, two]'));
    expect(await doctor()).toMatchObject([
      { check: 'worker.ssh_hosts', status: 'warning', message: expect.stringContaining('cannot work on two over ssh') as string },
    ]);
    await ground.write('WORKFLOW.md', workflow('[two]'));
    expect(await doctor()).toMatchObject([{ check: 'worker.ssh_hosts', status: 'error' }]);
  });
});
