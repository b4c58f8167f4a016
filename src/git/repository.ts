import { createHash } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import { runGit, type GitResult } from './command.ts';
import { httpAddressOf, plainEnvironment, remoteEnvironment } from './credentials.ts';
import { GitRefusal } from './refusal.ts';

export interface RepositorySettings {
  /** `git@host:path`, `ssh://…` or `https://…`, without a password in it. */
  readonly url: string;
  /** Holds the repositories of all issues; made when missing. */
  readonly folder: string;
  /** For https addresses; null leaves git without a login. */
  readonly token: string | null;
  /** The branch requests are merged into; null takes the default branch of the remote. */
  readonly baseBranch: string | null;
  readonly timeoutMs: number;
}

export interface RepositoryDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessLedger;
  /** Asked right before each push; absent where nobody else could lead. */
  readonly mayWrite?: () => Promise<void>;
}

/**
 * The two repositories behind the workspaces of one project.
 *
 * `control` talks to the remote. Agents have no business in it: its settings are written anew before each use, so that
 * no address, hook or credential helper of somebody else takes part where our credential does.
 * `shared` is what the worktrees belong to. Agents commit into it and may change its settings; nothing that knows a
 * credential runs in it. It borrows the objects of `control`, so a clone is kept once for all issues.
 */
export interface Repository {
  readonly url: string;
  readonly control: string;
  readonly shared: string;
  /** The branch requests are merged into. Known after the first `refresh`. */
  baseBranch(): string;
  /** Brings both up to date with the remote. Calls that overlap become one. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Runs work that writes refs or settings of the two after all earlier such work: git itself would refuse to wait. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Runs git in `control`, with the credential. A refusal is a GitRefusal. A `push` asks first whether it may be. */
  remote(what: 'fetch' | 'push', args: readonly string[], signal: AbortSignal): Promise<string>;
  /** Runs git in a directory of the agents', without any credential. */
  local(cwd: string, args: readonly string[], signal: AbortSignal): Promise<GitResult>;
}

/** Settings of the control repository: nothing is taken over from anywhere else. */
const CONTROL_CONFIG = `[core]
	repositoryformatversion = 0
	bare = true
	hooksPath = /dev/null
	fsmonitor = false
[credential]
	useHttpPath = true
	helper =
[gc]
	auto = 0
[protocol "ext"]
	allow = never
[http]
	followRedirects = initial
`;

export function createRepository(settings: RepositorySettings, deps: RepositoryDeps): Repository {
  const folder = path.join(settings.folder, createHash('sha256').update(settings.url).digest('hex').slice(0, 16));
  const control = path.join(folder, 'control.git');
  const shared = path.join(folder, 'shared.git');
  const exclusively = createSequence();
  let base = settings.baseBranch;
  let refreshing: Promise<void> | null = null;

  const repository: Repository = {
    url: settings.url,
    control,
    shared,
    baseBranch() {
      if (base === null) throw new Error('the repository was not refreshed yet');
      return base;
    },
    refresh(signal) {
      refreshing ??= exclusively(() => refreshAll(signal)).finally(() => {
        refreshing = null;
      });
      return refreshing;
    },
    exclusively,
    ...createGit(settings, deps, { folder, control }),
  };

  async function refreshAll(signal: AbortSignal): Promise<void> {
    await makeBoth(repository, folder, signal);
    await fetchFromRemote(repository, signal);
    base ??= await defaultBranch(repository, signal);
    await fetchIntoShared(repository, signal);
  }

  return repository;
}

/** Runs one work after the other, whether or not the one before succeeded. */
function createSequence(): Repository['exclusively'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work, work);
    last = done.catch(() => {});
    return done;
  };
}

/** Git as it is run here: against the remote with the credential, in the directories of agents without. */
function createGit(
  { url, token, timeoutMs }: RepositorySettings,
  { env, processes, mayWrite }: RepositoryDeps,
  { folder, control }: { readonly folder: string; readonly control: string },
): Pick<Repository, 'remote' | 'local'> {
  const ledger = {
    timeoutMs,
    // An owner of its own each: what is left of one command is ended with it, and with nothing else.
    onSpawn: (pid: number) => processes.started(pid, `git ${pid}`),
    onExit: (pid: number) => processes.ended(pid),
  };
  return {
    async remote(what, args, signal) {
      await writeFile(path.join(control, 'config'), CONTROL_CONFIG);
      await rm(path.join(control, 'hooks'), { recursive: true, force: true });
      const password = httpAddressOf(url) ? token : null;
      const known = await remoteEnvironment(folder, url, env);
      if (what === 'push') await mayWrite?.();
      const result = await runGit({ args, cwd: control, env: known, password, ...ledger }, signal);
      if (result.code !== 0) throw new GitRefusal(what, result.stderr);
      return result.stdout;
    },
    local: (cwd, args, signal) => runGit({ args, cwd, env: plainEnvironment(env), ...ledger }, signal),
  };
}

/** Runs git without a credential and insists on success. */
export async function mustPass(
  repository: Repository,
  cwd: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const result = await repository.local(cwd, args, signal);
  if (result.code === 0) return result.stdout;
  const called = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c') ?? '';
  throw new WorkspaceError('git', `git ${called}: ${result.stderr.trim().slice(-400)}`, { retryable: true });
}

async function makeBoth(repository: Repository, folder: string, signal: AbortSignal): Promise<void> {
  const { control, shared, url } = repository;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const place of [control, shared]) {
    if (!(await isRepository(place))) await mustPass(repository, folder, ['init', '--quiet', '--bare', place], signal);
  }
  await writeFile(path.join(shared, 'objects', 'info', 'alternates'), `${path.join(control, 'objects')}\n`);
  await mkdir(path.join(shared, 'info'), { recursive: true });
  await writeFile(path.join(shared, 'info', 'exclude'), '/.foray/\n');
  await mustPass(repository, shared, ['config', 'remote.origin.url', url], signal);
  await mustPass(repository, shared, ['config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'], signal);
  await mustPass(repository, shared, ['config', 'gc.auto', '0'], signal);
}

async function fetchFromRemote(repository: Repository, signal: AbortSignal): Promise<void> {
  const refs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
  await repository.remote('fetch', ['fetch', '--quiet', '--prune', '--no-tags', repository.url, ...refs], signal);
}

/** The branches of the remote, as the worktrees see them. */
async function fetchIntoShared(repository: Repository, signal: AbortSignal): Promise<void> {
  const { control, shared } = repository;
  const mirrored = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  await mustPass(repository, shared, ['fetch', '--quiet', '--prune', '--no-tags', control, ...mirrored], signal);
}

async function isRepository(place: string): Promise<boolean> {
  return stat(path.join(place, 'HEAD')).then(
    () => true,
    () => false,
  );
}

async function defaultBranch(repository: Repository, signal: AbortSignal): Promise<string> {
  const told = await repository.remote('fetch', ['ls-remote', '--symref', repository.url, 'HEAD'], signal);
  const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(told)?.[1];
  if (branch !== undefined) return branch;
  throw new WorkspaceError('repo', `${repository.url} names no default branch: push a first commit to it`, { retryable: false });
}
