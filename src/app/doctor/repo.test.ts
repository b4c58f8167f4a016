import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGitServer, type GitServer } from '../../../test/support/git/http-backend.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { checkRepo } from './repo.ts';
import type { Finding } from './finding.ts';
import type { GoodWorkflow } from '../workflow.ts';

const TOKEN = 'secret-token-of-the-forge';
const never = new AbortController().signal;
let home: string;
let server: GitServer;

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'foray-doctor-repo-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: home, stdio: 'ignore' });
  git('init', '--bare', '--initial-branch=trunk', 'shop.git');
  git('init', '--bare', 'empty.git');
  git('clone', 'shop.git', 'seed');
  const author = ['-c', 'user.name=Rita', '-c', 'user.email=rita@example.org'];
  git('-C', 'seed', ...author, 'commit', '--allow-empty', '-m', 'first');
  git('-C', 'seed', 'push', 'origin', 'HEAD:trunk');
  server = await startGitServer({ root: home, token: TOKEN });
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

async function checked(repo: { name?: string; token?: string | null; baseBranch?: string | null } | null): Promise<Finding[]> {
  const { name = 'shop', token = TOKEN, baseBranch = null } = repo ?? {};
  const named = repo && { url: `${server.origin}/${name}.git`, token, baseBranch };
  const workspace = { ...settingsWith().workspace, repo: named as never };
  const workflow = { settings: settingsWith({ rest: { workspace } }) } as unknown as GoodWorkflow;
  return [...(await checkRepo(workflow, { env: process.env }, never))];
}

it.each([
  ['its default branch', {}, 'ok: can be read; work starts from "trunk"'],
  ['a branch that is there', { baseBranch: 'trunk' }, 'ok: can be read; work starts from "trunk"'],
  ['a branch that is not there', { baseBranch: 'main' }, 'warning: has no branch "main"'],
  ['no commit', { name: 'empty' }, 'warning: names no default branch'],
])('a repository with %s', async (_, repo, told) => {
  const [found, ...rest] = await checked(repo);
  expect(`${found?.status}: ${found?.message.replace(/^\S+ /, '')}`).toBe(told);
  expect(rest).toEqual([]);
});

it.each([
  ['another token', { token: 'another' }, /Authentication failed/],
  ['no token', { token: null }, /Authentication failed|could not read/],
  ['another name', { name: 'shoop' }, /not found/i],
])('a repository that cannot be read with %s is told with its reason and remedy, before a run', async (_, repo, reason) => {
  const [found] = await checked(repo);
  expect(found).toMatchObject({ check: 'workspace.repo', status: 'warning', remedy: expect.stringContaining('workspace.repo') });
  expect(found?.message).toMatch(reason);
  expect(JSON.stringify(found)).not.toContain(TOKEN);
});

it('no repository, nothing to ask', async () => {
  expect(await checked(null)).toEqual([]);
});
