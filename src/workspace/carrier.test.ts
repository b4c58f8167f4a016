import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit, git } from '../../test/support/git/person.ts';
import { startGitServer, type GitServer } from '../../test/support/git/http-backend.ts';
import { createCarriedRemote, createRepository, createWorktree, publish, updateWorktree } from '../git/index.ts';
import type { Repository } from '../git/index.ts';
import { PART_BYTES, type Carrier } from '../ports/carrier.ts';
import type { NewRequest } from '../ports/scm.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { createBegunRequests, NONE_BEGUN } from './begun-requests.ts';
import { createCarrier, type OwnCarrier } from './carrier.ts';
import { createDelivery } from './delivery.ts';

const TOKEN = 'secret-token-of-the-forge';
const never = new AbortController().signal;
const processes = { started: () => {}, ended: () => {} };
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const subject = { tracker: 't', issueId: '1', identifier: 'T-1', title: 'One', attempt: 0 } as WorkspaceSubject;

let home: string;
let server: GitServer;
let remote: string;
let opened: NewRequest[];
let carrier: OwnCarrier;
let carry: (runId: string) => OwnCarrier;
/** How the request ended. */
let end: 'merged' | 'closed' | null;
/** What passed between the two machines, by call. */
let passed: Record<string, number[]>;
let there: Repository;

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'foray-carrier-'));
  remote = path.join(home, 'server', 'acme', 'shop.git');
  mkdirSync(remote, { recursive: true });
  git(remote, 'init', '--quiet', '--bare', '--initial-branch=trunk');
  git(remote, 'config', 'http.receivepack', 'true');
  const seed = path.join(home, 'seed');
  git(home, 'clone', '--quiet', remote, seed);
  commit(seed, 'README.md', 'hello', 'first');
  git(seed, 'tag', '-a', 'v1', '-m', 'one');
  git(seed, 'push', '--quiet', 'origin', 'HEAD:trunk', 'HEAD:old/topic', 'v1');
  server = await startGitServer({ root: path.join(home, 'server'), token: TOKEN });
  const url = `${server.origin}/acme/shop.git`;
  const settings = { url, token: TOKEN, baseBranch: null, timeoutMs: 20_000 };
  const here = createRepository({ ...settings, folder: path.join(home, 'leader') }, { env: process.env, processes });
  opened = [];
  end = null;
  const opener = {
    kind: 'fake',
    endOf: () => Promise.resolve(end),
    find: () => Promise.resolve(opened.length > 0 ? { number: 7, url: '' } : null),
    open: async (request: NewRequest) => {
      opened.push(request);
      return { number: 7, url: '' };
    },
  };
  const project = { owner: 'acme', repo: 'shop' };
  const begun = createBegunRequests({ repository: here, opener, project });
  const deps = { repository: here, push: true, opener, begun, project, clock: Date, logger };
  carry = (runId) => createCarrier(deps, subject, runId);
  carrier = carry('r1');
  passed = { pack: [], readPack: [], addWork: [] };
  const remoteThere = createCarriedRemote(counted(carrier), 'foray/T-1');
  const folder = path.join(home, 'worker');
  there = createRepository(
    { ...settings, token: null, folder },
    { env: { PATH: process.env.PATH }, processes, remote: remoteThere },
  );
});

afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

function counted(given: Carrier): Carrier {
  return {
    ...given,
    async pack(have, signal) {
      const packed = await given.pack(have, signal);
      passed['pack']?.push(packed.bytes);
      return packed;
    },
    async readPack(at, signal) {
      const part = await given.readPack(at, signal);
      passed['readPack']?.push(Buffer.from(part, 'base64').length);
      return part;
    },
    async addWork(at, part, signal) {
      passed['addWork']?.push(Buffer.from(part, 'base64').length);
      await given.addWork(at, part, signal);
    },
  };
}

async function checkedOut() {
  const worktree = { path: path.join(home, 'workspace'), branch: 'foray/T-1' };
  mkdirSync(worktree.path);
  await createWorktree(there, worktree, never);
  return worktree;
}

describe('a repository that somebody else reaches', () => {
  it('gets back nothing that a person took off the branch meanwhile, whoever saw it first', async () => {
    const worktree = await checkedOut();
    commit(worktree.path, 'a.txt', 'a', 'a');
    commit(worktree.path, 'secret.txt', 'secret', 'secret');
    await publish(there, worktree, 'One', never);
    git(remote, 'update-ref', 'refs/heads/foray/T-1', 'foray/T-1~1');
    await carry('r2').pack([], never);
    commit(worktree.path, 'fix.txt', 'fixed', 'fix');
    await expect(publish(there, worktree, 'One', never)).rejects.toThrow('somebody took commits off foray/T-1');
    expect(git(remote, 'log', '--format=%s', 'foray/T-1')).toBe('a\nfirst');
  });

  it('is checked out, pushed and proposed without a credential, in parts, and only what is new is sent', async () => {
    const worktree = await checkedOut();
    expect(git(worktree.path, 'log', '--format=%s', 'origin/trunk')).toBe('first');
    expect(git(worktree.path, 'describe')).toBe('v1');
    commit(worktree.path, 'large.bin', randomBytes(PART_BYTES + 1_000), 'by the agent');
    writeFileSync(path.join(worktree.path, 'rest.txt'), 'left over');
    await expect(carrier.propose(never)).rejects.toThrow('only what was pushed is proposed');
    const published = await publish(there, worktree, 'One', never);
    expect(published).toMatchObject({ branch: 'foray/T-1', base: 'trunk', sha: git(remote, 'rev-parse', 'foray/T-1') });
    expect(git(remote, 'log', '--format=%s', 'foray/T-1')).toBe('One\nby the agent\nfirst');
    expect(passed['addWork']?.[0]).toBe(PART_BYTES);
    expect(passed['addWork']).toHaveLength(2);
    expect(await carrier.propose(never)).toMatchObject({ number: 7 });
    expect(await carrier.propose(never)).toMatchObject({ number: 7 });
    expect(opened).toEqual([
      expect.objectContaining({ owner: 'acme', repo: 'shop', branch: 'foray/T-1', base: 'trunk', title: 'One' }),
    ]);

    const other = path.join(home, 'reviewer');
    git(home, 'clone', '--quiet', '--branch', 'foray/T-1', remote, other);
    commit(other, 'review.txt', 'from a reviewer', 'reviewed');
    git(other, 'push', '--quiet', 'origin', 'HEAD', ':old/topic', 'HEAD:old');
    expect(await updateWorktree(there, worktree, never)).toBe(true);
    expect(existsSync(path.join(worktree.path, 'review.txt'))).toBe(true);
    expect(passed['pack']?.at(-1)).toBeLessThan(10_000);
    expect(git(there.control, 'for-each-ref', '--format=%(refname)', 'refs/heads/old*')).toBe('refs/heads/old');
    await there.refresh(never);
    expect(passed['pack']?.at(-1)).toBe(0);
    const found = execFileSync('sh', ['-c', `grep -rlF '${TOKEN}' worker workspace || true`], { cwd: home, encoding: 'utf8' });
    expect(found).toBe('');
    await carrier.close();
    expect(execFileSync('find', [path.join(home, 'leader'), '-path', '*carried/r1*'], { encoding: 'utf8' })).toBe('');
  });

  it('pushes nothing for a run during which the request was merged, and tells of no push', async () => {
    const worktree = await checkedOut();
    const first = commit(worktree.path, 'a.txt', 'one', 'one');
    await publish(there, worktree, 'One', never);
    await carrier.propose(never);
    const next = carry('r2');
    const remoteThere = createCarriedRemote(next, 'foray/T-1');
    const settings = { url: there.url, token: null, baseBranch: null, timeoutMs: 20_000, folder: path.join(home, 'worker') };
    const again = createRepository(settings, { env: { PATH: process.env.PATH }, processes, remote: remoteThere });
    expect(await updateWorktree(again, worktree, never)).toBe(true);
    commit(worktree.path, 'b.txt', 'two', 'two');
    mkdirSync(path.join(worktree.path, '.foray'));
    end = 'merged';
    const told: string[] = [];
    const tell = (message: string) => void told.push(message);
    const opener = { kind: 'carried', find: () => next.propose(never), open: () => Promise.reject(new Error('not asked')) };
    const parts = { repository: again, push: true, opener, begun: NONE_BEGUN, project: { owner: 'acme', repo: 'shop' } };
    const delivery = createDelivery({ ...parts, clock: Date, logger: { ...logger, info: tell, warn: tell } });
    expect(await delivery.deliver(worktree.path, subject, never)).toBeNull();
    expect(told).toEqual(['merge request merged meanwhile, nothing is pushed']);
    expect(existsSync(path.join(worktree.path, '.foray', 'scm.json'))).toBe(false);
    expect(git(worktree.path, 'rev-parse', 'origin/foray/T-1')).toBe(first);
    expect(opened).toHaveLength(1);
    expect(git(remote, 'rev-parse', 'foray/T-1')).toBe(first);

    // As on the machine of the service: a workspace that is made anew begins with what is at the remote.
    const other = { path: path.join(home, 'other-workspace'), branch: 'foray/T-1' };
    git(worktree.path, 'checkout', '--quiet', '--detach');
    mkdirSync(other.path);
    await createWorktree(again, other, never);
    expect(git(other.path, 'rev-parse', 'HEAD')).toBe(first);
  });

  it('replaces after a rebase only what was pushed from there, and brings in what others pushed', async () => {
    const worktree = await checkedOut();
    commit(worktree.path, 'a.txt', 'one', 'one');
    await publish(there, worktree, 'One', never);
    git(worktree.path, 'commit', '--quiet', '--amend', '-m', 'one, better');
    const again = await publish(there, worktree, 'One', never);
    expect(again).toMatchObject({ sha: git(remote, 'rev-parse', 'foray/T-1') });
    const other = path.join(home, 'reviewer');
    git(home, 'clone', '--quiet', '--branch', 'foray/T-1', remote, other);
    commit(other, 'theirs.txt', 'theirs', 'theirs');
    git(other, 'push', '--quiet', 'origin', 'HEAD');
    commit(worktree.path, 'ours.txt', 'ours', 'ours');
    await publish(there, worktree, 'One', never);
    expect(git(remote, 'ls-tree', '-r', '--name-only', 'foray/T-1')).toBe('README.md\na.txt\nours.txt\ntheirs.txt');
    server.refusePushes(403);
    commit(worktree.path, 'more.txt', 'more', 'more');
    await expect(publish(there, worktree, 'One', never)).rejects.toMatchObject({ refusal: 'auth', retryable: false });
  });

  it('is checked out on another machine too, after its branch was pushed and deleted', async () => {
    const worktree = await checkedOut();
    commit(worktree.path, 'a.txt', 'one', 'one');
    await publish(there, worktree, 'One', never);
    git(remote, 'update-ref', '-d', 'refs/heads/foray/T-1');
    const settings = { url: there.url, folder: path.join(home, 'other'), token: null, baseBranch: null, timeoutMs: 20_000 };
    const reached = createCarriedRemote(carrier, 'foray/T-1');
    const elsewhere = createRepository(settings, { env: { PATH: process.env.PATH }, processes, remote: reached });
    const other = { path: path.join(home, 'other-workspace'), branch: 'foray/T-1' };
    mkdirSync(other.path);
    await createWorktree(elsewhere, other, never);
    expect(git(other.path, 'log', '--format=%s')).toBe('first');
    expect(await updateWorktree(there, worktree, never)).toBe(true);
    expect(git(worktree.path, 'log', '--format=%s')).toBe('first');
  });

  it('believes nothing of what it is sent', async () => {
    await there.refresh(never);
    const tip = git(remote, 'rev-parse', 'trunk');
    await expect(carrier.push('--all', never)).rejects.toThrow('this is no commit');
    await expect(carrier.push('f'.repeat(40), never)).rejects.toThrow();
    await carrier.addWork(0, Buffer.from('no bundle').toString('base64'), never);
    await expect(carrier.push(tip, never)).rejects.toThrow('git bundle');
    await expect(carrier.addWork(-1, '', never)).rejects.toThrow('no place');
    await expect(carrier.readPack(0.5, never)).rejects.toThrow('no place');
    expect((await carrier.pack(['--all', 'HEAD'], never)).refs.length).toBe(3);
    expect(git(remote, 'for-each-ref', '--format=%(refname)')).not.toContain('foray');
  });
});
