import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settingsWith } from '../../../test/support/settings.ts';
import type { WorkspaceSettings } from '../../domain/model/settings.ts';
import { checkAgentProgram, checkClock, checkGit, checkWorkspaceRoot, isOldNode } from './machine.ts';
import { createKnownSecrets } from '../secrets.ts';
import type { GoodWorkflow } from '../workflow.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const silent = () => {};
const deps = {
  env: { PATH: process.env['PATH'], HOME: '/nowhere' },
  version: '1',
  clock: { now: Date.now },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
  secrets: createKnownSecrets(),
};

const workspaceWith = (part: Partial<WorkspaceSettings>) =>
  workflowWith({ rest: { workspace: { ...settingsWith().workspace, ...part } } });

function workflowWith(parts: Parameters<typeof settingsWith>[0]): GoodWorkflow {
  const settings = settingsWith(parts);
  const file = { path: path.join(folder, 'WORKFLOW.md'), problems: [], body: '', bodyLine: 1, secrets: [], secretVariables: [] };
  return { ...file, settings } as unknown as GoodWorkflow;
}

it.each([
  ['18.20.0', true],
  ['20.17.0', true],
  ['20.18.0', true],
  ['20.18.1', false],
  ['20.19.0', false],
  ['22.0.0', false],
])('Node %s is too old: %s', (version, isOld) => {
  expect(isOldNode(version)).toBe(isOld);
});

it('a clock far from that of the tracker is told of, with the way to mend it', () => {
  const now = Date.UTC(2026, 5, 1);
  expect(checkClock(now, null)).toEqual([]);
  expect(checkClock(now, now - 59_000)).toEqual([]);
  expect(checkClock(now, now - 300_000)).toMatchObject([
    {
      check: 'clock',
      status: 'warning',
      message: expect.stringContaining('300 s ahead of') as string,
      remedy: expect.any(String) as string,
    },
  ]);
  expect(checkClock(now, now + 90_000)[0]?.message).toContain('90 s behind');
});

it.runIf(process.platform === 'linux')('a workspace root where no directory can be made is an error, for root too', async () => {
  const root = { root: '/proc/self/workspaces' };
  const [found] = await checkWorkspaceRoot(workspaceWith(root), deps);
  expect(found).toMatchObject({ check: 'workspace.root', status: 'error', remedy: expect.any(String) as string });
  const [inProc] = await checkWorkspaceRoot(workspaceWith({ root: '/proc/workspaces' }), deps);
  expect(inProc?.message).not.toMatch(/(no directory can be made).*\1/);
  const fine = { root: path.join(folder, 'a', 'b') };
  expect(await checkWorkspaceRoot(workspaceWith(fine), deps)).toMatchObject([{ status: 'ok' }]);
});

it('an agent program that is there but does not run is told of before a run; one that runs tells its version', async () => {
  const program = path.join(folder, 'claude');
  const agent = { kind: 'claude-code', command: [program], user: null, runOn: null } as never;
  const found = async (script: string) => {
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
    return (await checkAgentProgram(workflowWith({ agent }), deps)).find(({ check }) => check === 'agent');
  };
  expect(await found('echo "2.1.0 (Claude Code)"')).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('2.1.0 (Claude Code)') as string,
  });
  expect(await found('echo "cannot load libfoo.so" >&2; exit 127')).toMatchObject({
    status: 'warning',
    message: `${program} --version failed: cannot load libfoo.so`,
    remedy: expect.any(String) as string,
  });
});

it('git that is missing is an error where the service fills the workspaces from a repository', async () => {
  const before = process.env['PATH'];
  process.env['PATH'] = folder;
  try {
    const repo = { url: 'https://example.com/a.git' };
    const needed = workspaceWith({ repo: repo as never });
    expect(await checkGit(needed)).toMatchObject([{ status: 'error', message: 'workspace.repo needs git, which is not there' }]);
    expect(await checkGit(workspaceWith({ repo: null }))).toMatchObject([{ status: 'warning' }]);
  } finally {
    process.env['PATH'] = before;
  }
});
