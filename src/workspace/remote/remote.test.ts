import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSsh, type FakeSsh } from '../../../test/support/fake-ssh.ts';
import { createLogRecorder } from '../../../test/support/workspaces.ts';
import type { HookSettings } from '../../domain/model/settings.ts';
import { startRemote } from '../../lib/ssh/index.ts';
import type { Workspaces, WorkspaceSubject } from '../../ports/workspace.ts';
import { markNameOf } from '../key.ts';
import { createRemoteWorkspaces } from './index.ts';

const signal = new AbortController().signal;
let workspaces: Workspaces;
let root: string;
let log: ReturnType<typeof createLogRecorder>;
let other: (markKey: string) => Workspaces;

let ssh: FakeSsh;

afterEach(() => ssh.remove());
beforeEach(async () => {
  ssh = await createFakeSsh();
  const target = { host: 'far', env: { PATH: `${ssh.folder}:${process.env['PATH']}` }, markVariable: 'RUN', patienceMs: 30_000 };
  log = createLogRecorder();
  root = path.join(await ssh.homeOf('far'), 'work');
  other = (markKey) =>
    createRemoteWorkspaces({
      host: { name: 'far', start: (options) => startRemote(target, options) },
      root: '~/work',
      logger: log,
      processes: { started: () => {}, ended: () => {} },
      markKey,
      removedDays: 7,
      maskSecrets: (text) => text.replaceAll('s3cret', '***'),
    });
  workspaces = other('key');
});

function subject(hooks: Partial<HookSettings> = {}, identifier = 'ABC-1'): WorkspaceSubject {
  const none = { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 30_000 };
  return { tracker: 't', issueId: `id-${identifier}`, identifier, title: "It's $one", attempt: 2, hooks: { ...none, ...hooks } };
}

describe('a workspace on another host', () => {
  it('is made once, by its hooks, and found again', async () => {
    const hooks = { afterCreate: 'echo "$FORAY_ISSUE_TITLE $FORAY_WORKSPACE" > made; env > env', beforeRun: 'pwd > before' };
    const first = await workspaces.prepare(subject(hooks), signal);
    expect(first).toEqual({ path: `${root}/ABC-1`, created: true });
    await workspaces.beforeRun(subject(hooks), signal);
    expect(await readFile(`${root}/ABC-1/made`, 'utf8')).toBe(`It's $one ${root}/ABC-1\n`);
    expect(await readFile(`${root}/ABC-1/before`, 'utf8')).toBe(`${root}/ABC-1\n`);
    expect(await readFile(`${root}/ABC-1/.foray/.gitignore`, 'utf8')).toBe('*\n');
    expect(await workspaces.prepare(subject(hooks), signal)).toMatchObject({ created: false });
    expect(await workspaces.list()).toEqual(['ABC-1']);
  });

  it('is no longer its own where a link stands in its place, or nothing', async () => {
    await workspaces.prepare(subject(), signal);
    await workspaces.requireOwn(subject(), signal);
    await rename(`${root}/ABC-1`, `${root}/../elsewhere`);
    await expect(workspaces.requireOwn(subject(), signal)).rejects.toThrow('the workspace of ABC-1 is gone from far');
    await symlink(`${root}/../elsewhere`, `${root}/ABC-1`);
    await expect(workspaces.requireOwn(subject(), signal)).rejects.toThrow(`far:${root}/ABC-1 is not a directory`);
  });

  it('is free of what a daemon that died left running there, before another run begins', async () => {
    const { path: place } = await workspaces.prepare(subject(), signal);
    const left = (of: string) =>
      spawn('sh', ['-c', "trap 'echo told' TERM; while :; do sleep 0.1; done"], { env: { ...process.env, FORAY_WORKSPACE: of } });
    const [agent, neighbour] = [left(place), left(`${place}0`)];
    const ended = once(agent, 'exit');
    try {
      expect(await workspaces.prepare(subject(), signal)).toMatchObject({ created: false });
      expect(await ended).toEqual([null, 'SIGKILL']);
      expect(neighbour.exitCode ?? neighbour.signalCode).toBeNull();
      expect(log.records).toContainEqual(
        expect.objectContaining({
          message: 'ending a process that an earlier run left behind',
          attributes: expect.objectContaining({ issue_identifier: 'ABC-1', host: 'far', pid: agent.pid }) as object,
        }),
      );
    } finally {
      for (const child of [agent, neighbour]) child.kill('SIGKILL');
    }
  });

  it('is taken away again when after_create fails, and the failure tells what was printed', async () => {
    const hooks = { afterCreate: 'touch half; echo no s3cret key; exit 3' };
    await expect(workspaces.prepare(subject(hooks), signal)).rejects.toThrow('exit status 3: no *** key');
    expect(existsSync(`${root}/ABC-1`)).toBe(false);
    expect((await workspaces.prepare(subject(), signal)).created).toBe(true);
  });

  it('is never one that was made for another issue or by another daemon', async () => {
    await workspaces.prepare(subject(), signal);
    const name = path.basename((await workspaces.prepare({ ...subject(), issueId: 'another' }, signal)).path);
    expect(name).toMatch(/^ABC-1-[0-9a-f]{16}$/);
    await expect(other('another key').prepare({ ...subject(), issueId: 'another' }, signal)).rejects.toThrow(
      'was made for another',
    );
  });

  it('is not shared by two issues of one name that begin at the same moment', async () => {
    const both = [subject(), { ...subject(), issueId: 'another' }];
    const made = await Promise.all(both.map((one) => workspaces.prepare(one, signal)));
    expect(new Set(made.map(({ path: place }) => place)).size).toBe(2);
    expect(await Promise.all(both.map((one) => workspaces.pathFor(one)))).toEqual(made.map(({ path: place }) => place));
  });

  it.each([
    ['a link', (place: string) => symlink('elsewhere', place)],
    ['a directory', (place: string) => mkdir(path.join(place, 'deep'), { recursive: true })],
    ['a pipe', (place: string) => Promise.resolve(execFileSync('mkfifo', [place]))],
  ])('is made and removed whatever an agent put in the place of what is beside it: %s', async (_what, plant) => {
    const [mark, note] = [`${root}/.foray-marks/ABC-1.json`, `${root}/${markNameOf('ABC-1')}`];
    await mkdir(path.dirname(mark), { recursive: true });
    for (const place of [mark, `${mark}.new`, note]) await plant(place);
    expect(await workspaces.prepare(subject(), signal)).toEqual({ path: `${root}/ABC-1`, created: true });
    expect(await workspaces.prepare(subject(), signal)).toMatchObject({ created: false });
    await plant(note);
    expect(await workspaces.remove(subject(), signal)).toMatchObject({ removed: true, aside: null });
    expect([existsSync(note), existsSync(`${root}/elsewhere`), existsSync(`${root}/ABC-1`)]).toEqual([false, false, false]);
  });

  it('refuses links in its place', async () => {
    await mkdir(root, { recursive: true });
    await symlink('/etc', `${root}/ABC-1`);
    await expect(workspaces.prepare(subject(), signal)).rejects.toThrow('is not a directory');
    await rm(`${root}/ABC-1`);
    await workspaces.prepare(subject(), signal);
    await symlink('/etc/passwd', `${root}/ABC-1/.foray/status`);
    expect(await workspaces.readStatus(subject(), `${root}/ABC-1`)).toBeNull();
    const attributes = expect.objectContaining({ issue_identifier: 'ABC-1' }) as object;
    expect(log.records).toContainEqual(expect.objectContaining({ message: 'status file ignored', attributes }));
    await rm(`${root}/.foray-marks`, { recursive: true });
    await mkdir(`${root}/../elsewhere`);
    await symlink(`${root}/../elsewhere`, `${root}/.foray-marks`);
    await expect(workspaces.prepare(subject({}, 'ABC-2'), signal)).rejects.toThrow('.foray-marks of the root is no directory');
    expect(await readdir(`${root}/../elsewhere`)).toEqual([]);
  });

  it('gives the word of the agent, and not what was there before', async () => {
    await workspaces.prepare(subject({ beforeRun: "printf 'blocked\\nby the hook' > .foray/status" }), signal);
    await workspaces.beforeRun(subject({ beforeRun: "printf 'blocked\\nby the hook' > .foray/status" }), signal);
    const file = `${root}/ABC-1/.foray/status`;
    expect(await workspaces.readStatus(subject(), `${root}/ABC-1`)).toBeNull();
    await writeFile(file, 'blocked\nby the hook');
    expect(await workspaces.readStatus(subject(), `${root}/ABC-1`)).toBeNull();
    await writeFile(file, 'needs-human-review\nüber s3cret\n');
    expect(await workspaces.readStatus(subject(), `${root}/ABC-1`)).toEqual({
      word: 'needs-human-review',
      statement: 'über ***',
    });
    const scm = { branch: 'b', sha: 'abcdef1', pushed_at: '2026-01-01T00:00:00Z', pr_number: 4, owner: 'o', repo: 'r' };
    await writeFile(`${root}/ABC-1/.foray/scm.json`, JSON.stringify(scm));
    expect(await workspaces.readScm(subject(), `${root}/ABC-1`)).toMatchObject({ branch: 'b', prNumber: 4 });
    await writeFile(`${root}/ABC-1/.foray/scm.json`, ' '.repeat(5000));
    expect(await workspaces.readScm(subject(), `${root}/ABC-1`)).toBeNull();
  });

  it('shows what changed in it', async () => {
    const { path: place } = await workspaces.prepare(subject(), signal);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: place, stdio: 'pipe' });
    const look = () => workspaces.workBefore(subject(), signal);
    const shows = (before: string) => workspaces.hasWorkSince(subject(), before, signal);
    const plain = await look();
    await writeFile(`${place}/.foray/status`, 'blocked');
    git('init', '-q');
    expect(await shows(plain)).toBe(false);
    await writeFile(`${place}/a`, '1');
    expect(await shows(plain)).toBe(true);
    const untracked = await look();
    await writeFile(`${place}/a`, '2');
    expect(await shows(untracked)).toBe(true);
    git('add', 'a');
    git('commit', '-qm', 'first');
    const committed = await look();
    git('checkout', '-qb', 'work');
    git('tag', 'v1');
    expect(await shows(committed)).toBe(false);
    await rename(`${place}/.git`, `${root}/aside`);
    expect(await shows(committed)).toBe(false);
    await rename(`${root}/aside`, `${place}/.git`);
    git('init', '-q', '--bare', `${root}/far.git`);
    git('push', '-q', `${root}/far.git`, 'HEAD:refs/heads/work');
    expect(await shows(committed)).toBe(false);
    git('remote', 'add', 'origin', `${root}/far.git`);
    git('push', '-q', 'origin', 'HEAD:refs/heads/work');
    expect(await shows(committed)).toBe(true);
    const pushed = await look();
    git('commit', '--allow-empty', '-qm', 'second');
    execFileSync('mkfifo', [`${place}/.git/packed-refs`]);
    expect(await shows(pushed)).toBe(true);
    const worked = await look();
    git(
      'push',
      '-q',
      `${root}/far.git`,
      `${git('commit-tree', '-m', 'theirs', 'HEAD^{tree}').toString().trim()}:refs/heads/theirs`,
    );
    git('fetch', '-q', 'origin');
    git('checkout', '-q', 'origin/theirs');
    git('branch', 'older', 'work~1');
    expect(await shows(worked)).toBe(false);
    git('commit', '--allow-empty', '-qm', 'third');
    expect(await shows(worked)).toBe(true);
  });

  it('is looked at without a program that a repository in it names', async () => {
    const { path: place } = await workspaces.prepare(subject(), signal);
    const ran = path.join(ssh.folder, 'ran');
    const git = (cwd: string, ...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', cwd, ...args], {
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim();
    await mkdir(`${place}/inner`);
    await writeFile(`${place}/.foray/status`, 'blocked');
    for (const at of [`${place}/inner`, place]) {
      git(at, 'init', '-q');
      await writeFile(`${at}/known.ts`, 'x');
      git(at, 'add', '-f', '.');
      git(at, 'commit', '-qm', 'first');
      for (const key of ['clean', 'process']) git(at, 'config', `filter.the "thief".${key}`, `touch ${ran}; cat`);
      git(at, 'config', 'filter.the "thief".required', 'true');
      git(at, 'config', 'core.fsmonitor', `touch ${ran}; false`);
      await writeFile(`${at}/.git/info/attributes`, '* filter=the\\ "thief"\n*.ts filter=thief\n');
      git(at, 'config', 'filter.thief.clean', `touch ${ran}; cat`);
    }
    const missing = git(place, 'rev-parse', 'HEAD:.foray/status');
    await rm(`${place}/.git/objects/${missing.slice(0, 2)}/${missing.slice(2)}`);
    git(place, 'config', 'core.repositoryFormatVersion', '1');
    git(place, 'config', 'extensions.partialClone', 'origin');
    const remote = { promisor: 'true', url: ssh.folder, uploadpack: `touch ${ran}; git-upload-pack` };
    for (const [key, value] of Object.entries(remote)) git(place, 'config', `remote.origin.${key}`, value);
    await symlink('/dev/zero', `${place}/endless`);
    await workspaces.beforeRun(subject(), signal);
    const look = () => workspaces.workBefore(subject(), signal);
    const before = await look();
    await writeFile(`${place}/inner/known.ts`, 'y');
    const within = await look();
    await writeFile(`${place}/known.ts`, 'y');
    expect(new Set([before, within, await look()]).size).toBe(3);
    expect(existsSync(ran)).toBe(false);
  });

  it('that was taken away under its agent holds nothing that could be handed over', async () => {
    await workspaces.prepare(subject(), signal);
    await workspaces.beforeRun(subject(), signal);
    expect(await workspaces.deliver(subject(), signal)).toBeNull();
    // Not deleted: its number would be given again, and the moment it was made is told in seconds.
    await rename(`${root}/ABC-1`, `${root}/taken`);
    await expect(workspaces.deliver(subject(), signal)).rejects.toThrow('the workspace of ABC-1 is gone from far');
    await mkdir(`${root}/ABC-1/src`, { recursive: true });
    await expect(workspaces.deliver(subject(), signal)).rejects.toThrow('the workspace of ABC-1 is gone from far');
  });

  it('stays the same one without our folder, which an agent may clear away with what git ignores', async () => {
    await workspaces.prepare(subject(), signal);
    await workspaces.beforeRun(subject(), signal);
    await rm(`${root}/ABC-1/.foray`, { recursive: true });
    expect(await workspaces.deliver(subject(), signal)).toBeNull();
    await workspaces.afterRun(subject(), signal);
  });

  it('runs the checks of the operator', async () => {
    const { path: place } = await workspaces.prepare(subject(), signal);
    const check = { path: place, timeoutMs: 30_000, runId: 'r' };
    expect(await workspaces.verify({ ...check, command: 'pwd' }, signal)).toEqual({ ok: true, output: place });
    expect(await workspaces.verify({ ...check, command: 'echo bad; exit 2' }, signal)).toEqual({
      ok: false,
      output: 'bad\n[exit status 2]',
    });
  });

  it('is removed after its hook; what nobody marked is moved aside', async () => {
    await workspaces.prepare(subject(), signal);
    await mkdir(`${root}/ABC-1/locked`, { mode: 0o500 });
    const removal = await workspaces.remove(subject({ beforeRemove: `pwd > ${root}/../removed` }), signal);
    expect(removal).toEqual({ removed: true, path: `far:${root}/ABC-1`, aside: null });
    expect(existsSync(`${root}/ABC-1`)).toBe(false);
    expect(await readFile(path.join(root, '..', 'removed'), 'utf8')).toBe(`${root}/ABC-1\n`);
    await mkdir(`${root}/ABC-2`);
    const { aside } = await workspaces.remove(subject({}, 'ABC-2'), signal);
    expect(aside).toMatch(/^far:.*\/\.foray-removed\/ABC-2\.\d+$/);
    expect(await workspaces.remove(subject({}, 'ABC-3'), signal)).toMatchObject({ removed: false });
  });
});
