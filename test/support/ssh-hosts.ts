import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { FIXTURES } from './claude-code/fake-claude.ts';
import { eventually, fileWorkflow, type Playground } from './daemon.ts';
import { isAlive } from './processes.ts';

export interface SshScene {
  readonly ground: Playground;
  /** The home directories of the accounts on the hosts `one` and `two`. */
  readonly homes: Readonly<Record<'one' | 'two', string>>;
  /** Holds the program `ssh`. */
  readonly path: string;
  setReachable(host: string, reachable: boolean): Promise<void>;
}

/** Takes its turn; on an issue whose workspace has a file `wait` it works until it is ended. */
const CLAUDE = `#!/bin/sh
cat > "$HOME/prompt"
env > "$HOME/env"
pwd > "$HOME/cwd"
if [ -e wait ]; then
  sleep 300 &
  echo "$! $$" > "$HOME/pids"
  wait
fi
cat "${FIXTURES}/success.jsonl"
`;

/** One daemon, two hosts: what a user of `worker.ssh_hosts` sees from the first run to the end. */
export async function checkSshHosts({ ground, homes, path: programs, setReachable }: SshScene): Promise<void> {
  for (const home of Object.values(homes)) {
    await mkdir(path.join(home, '.local', 'bin'), { recursive: true });
    await writeFile(path.join(home, '.local', 'bin', 'claude'), CLAUDE);
    await chmod(path.join(home, '.local', 'bin', 'claude'), 0o755);
  }
  await ground.write(
    'WORKFLOW.md',
    fileWorkflow(
      {
        agent: 'kind: claude-code\nmax_turns: 1\nmax_retry_backoff_ms: 200\nstop_grace_ms: 2000\nmax_concurrent_agents: 1',
        worker: 'ssh_hosts: [two, one]\nssh_root: ~/work\nssh_env: [EXTRA]\nmax_concurrent_agents_per_host: 1',
        hooks: `after_create: |\n  echo made >> "$HOME/made"\n  case $FORAY_ISSUE_IDENTIFIER in A-2) touch wait ;; esac`,
      },
      'Work on {{ .issue.identifier }}: it costs 5 \\ $HOME.',
    ),
  );
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo' }]);
  await setReachable('two', false);
  const env = { PATH: programs, ANTHROPIC_API_KEY: 'sk-very-secret', EXTRA: 'more', OTHER_TOKEN: 'not-for-hosts' };
  const daemon = await ground.start(['--port', '0'], { env });

  await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });
  expect(daemon.stderr()).toMatch(/cannot work on two over ssh/);
  expect(await readFile(path.join(homes.one, 'cwd'), 'utf8')).toBe(`${homes.one}/work/A-1\n`);
  expect(await readFile(path.join(homes.one, 'prompt'), 'utf8')).toContain('Work on A-1: it costs 5 \\ $HOME.');
  const seen = await readFile(path.join(homes.one, 'env'), 'utf8');
  expect(seen).toContain('ANTHROPIC_API_KEY=sk-very-secret');
  expect(seen).toContain('EXTRA=more');
  expect(seen).not.toContain('not-for-hosts');
  expect(existsSync(path.join(ground.dir, 'ws', 'A-1'))).toBe(false);
  const runs = (await daemon.json('/api/v2/runs'))['runs'] as { status: string; workspace_path: string }[];
  expect(runs.find(({ status }) => status === 'succeeded')?.workspace_path).toBe(`one:${homes.one}/work/A-1`);

  await ground.writeIssues([
    { id: '1', identifier: 'A-1', title: 'One', state: 'done' },
    { id: '2', identifier: 'A-2', title: 'Two', state: 'todo' },
  ]);
  const pids = await eventually(
    () => readFile(path.join(homes.one, 'pids'), 'utf8').catch(() => ''),
    (text) => text.trim() !== '',
    'the agent on the host',
  );
  const state = (await daemon.json('/api/v1/state'))['running'] as { host?: string; workspace_path: string }[];
  expect(state[0]).toMatchObject({ host: 'one', workspace_path: `one:${homes.one}/work/A-2` });
  const status = await ground.run(['status', '--format', 'json'], { env });
  expect(JSON.parse(status.stdout)).toMatchObject({ running: [{ issue_identifier: 'A-2', host: 'one' }] });
  const hosts = (await daemon.json('/api/v2/workers'))['workers'] as unknown[];
  expect(hosts).toEqual([
    expect.objectContaining({
      name: 'two',
      kind: 'ssh',
      running: 0,
      slots: 1,
      problem: expect.stringContaining('cannot work on two'),
    }),
    expect.objectContaining({ name: 'one', kind: 'ssh', running: 1, slots: 1, problem: null }),
  ]);
  expect(await (await daemon.get('/metrics')).text()).toContain('svc_host_runs{host="one"} 1');
  expect((await ground.run(['stop', 'A-2'], { env })).code).toBe(0);
  await eventually(
    () => pids.trim().split(' ').map(Number).filter(isAlive),
    (alive) => alive.length === 0,
    'the end of the agent',
  );
  await daemon.stop();
  for (const text of [daemon.stderr(), await readFile(path.join(homes.one, 'made'), 'utf8')]) {
    expect(text).not.toContain('sk-very-secret');
  }
}
