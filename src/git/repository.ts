import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { removePlace } from '../lib/remove-place.ts';
import { replaceShortFile } from '../lib/short-file.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import type { WritePermission } from '../ports/runtime.ts';
import type { OverRequest } from '../ports/scm.ts';
import { runGit, subcommandOf, type GitResult } from './command.ts';
import { httpAddressOf, NO_OTHER_SETTINGS, plainEnvironment, remoteEnvironment } from './credentials.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { GitRefusal } from './refusal.ts';
import { refuseLinks } from './links.ts';
import { prepareRepositories } from './prepare-repositories.ts';
import { repositoryEnvironment, worktreeEnvironment } from './worktree-directory.ts';
import { networkRemote, type Remote } from './remote.ts';

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
  readonly mayWrite?: WritePermission;
  /** How the remote is reached; over the network unless given. */
  readonly remote?: Remote;
  /** Shared by those that work in one folder; its own unless given. */
  readonly exclusively?: Exclusively;
}

/** Runs work after all earlier work. */
export type Exclusively = <T>(work: () => Promise<T>) => Promise<T>;

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
  /** Puts right, in both, what an agent may have put in the place of files that git reads. */
  mend(signal: AbortSignal): Promise<void>;
  /** Runs work that writes refs or settings of the two after all earlier such work: git itself would refuse to wait. */
  readonly exclusively: Exclusively;
  /** Brings a commit of `shared` to a branch of the remote. A refusal is a GitRefusal; a request that is over keeps it back. */
  push(branch: string, sha: string, signal: AbortSignal): Promise<OverRequest | null>;
  /** Runs git in `control`, with the credential. A refusal is a GitRefusal. A `push` asks first whether it may be. */
  remote(what: 'fetch' | 'push', args: readonly string[], signal: AbortSignal): Promise<string>;
  /** Runs git in a directory of the agents', without any credential. */
  local(cwd: string, args: readonly string[], signal: AbortSignal, input?: string): Promise<GitResult>;
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

/**
 * Agents may set these in the repository of the worktrees, and put hooks there, which hold for all other issues too: whatever
 * git does for us runs none of them, and does and tells the same as without them.
 */
const SETTLED = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'core.safecrlf=false',
  'commit.gpgSign=false',
  'commit.cleanup=whitespace',
  'merge.ff=true',
  'merge.verifySignatures=false',
  'status.showUntrackedFiles=all',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** These move files and commits, which takes its time in a large repository. */
const LONG: ReadonlySet<string> = new Set(['add', 'bundle', 'checkout', 'commit', 'fetch', 'merge', 'reset', 'worktree']);
/** For all others that need no network. */
const SHORT_TIMEOUT_MS = 60_000;

/** An address that an agent had rewritten leads to no other machine and to no program, and a commit stands for itself alone. */
const LOCAL_ONLY = { GIT_ALLOW_PROTOCOL: 'file', GIT_NO_LAZY_FETCH: '1', GIT_NO_REPLACE_OBJECTS: '1' };

export function createRepository(settings: RepositorySettings, deps: RepositoryDeps): Repository {
  const folder = path.join(settings.folder, createHash('sha256').update(settings.url).digest('hex').slice(0, 16));
  const control = path.join(folder, 'control.git');
  const shared = path.join(folder, 'shared.git');
  const { remote = networkRemote, exclusively = createSequence() } = deps;
  let base = settings.baseBranch;
  let refreshing: { readonly done: Promise<void>; readonly signal: AbortSignal } | null = null;

  const repository: Repository = {
    url: settings.url,
    control,
    shared,
    baseBranch() {
      if (base === null) throw new Error('the repository was not refreshed yet');
      return base;
    },
    async refresh(signal) {
      const begun = (refreshing ??= {
        signal,
        done: exclusively(() => refreshAll(signal)).finally(() => {
          refreshing = null;
        }),
      });
      return begun.done.catch((error: unknown) => {
        // Whoever began it was stopped, which is nobody else's business.
        if (!begun.signal.aborted || signal.aborted) throw error;
        return repository.refresh(signal);
      });
    },
    mend: (signal) =>
      exclusively(async () => {
        if ((await prepareRepositories(repository, folder, signal)) === 'new') await fetchAll(signal);
      }),
    exclusively,
    push: (branch, sha, signal) => remote.push(repository, { branch, sha }, signal),
    ...createGit(settings, deps, { folder, control, shared }),
  };

  async function refreshAll(signal: AbortSignal): Promise<void> {
    await prepareRepositories(repository, folder, signal);
    await fetchAll(signal);
  }

  async function fetchAll(signal: AbortSignal): Promise<void> {
    await remote.fetch(repository, signal);
    // Somebody may rename it, or choose another one.
    base = settings.baseBranch ?? (await remote.defaultBranch(repository, signal));
    await fetchIntoShared(repository, signal);
  }

  return repository;
}

/** Runs one work after the other, whether or not the one before succeeded. */
export function createSequence(): Exclusively {
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
  { folder, control, shared }: Readonly<Record<'folder' | 'control' | 'shared', string>>,
): Pick<Repository, 'remote' | 'local'> {
  const ledger = {
    timeoutMs,
    // An owner of its own each: what is left of one command is ended with it, and with nothing else.
    onSpawn: (pid: number) => processes.started(pid, `git ${pid}`),
    onExit: (pid: number) => processes.ended(pid),
  };
  const placeEnvironment = async (cwd: string): Promise<Readonly<Record<string, string>>> => {
    if (cwd === folder) return {};
    if (cwd === control) return { ...NO_OTHER_SETTINGS, ...repositoryEnvironment(control) };
    return cwd === shared ? repositoryEnvironment(shared) : worktreeEnvironment(shared, cwd);
  };
  const settle = (): void => replaceShortFile(path.join(control, 'config'), CONTROL_CONFIG);
  const refuse = (): void => refuseLinks([path.dirname(folder), folder, control, shared], { retryable: true });
  return {
    async remote(what, args, signal) {
      refuse();
      settle();
      await removePlace(path.join(control, 'hooks'));
      const password = httpAddressOf(url) ? token : null;
      const known = { ...(await remoteEnvironment(folder, url, env)), ...repositoryEnvironment(control) };
      if (what === 'push') await mayWrite?.confirm();
      const result = await runGit({ args, cwd: control, env: known, password, ...ledger }, signal);
      if (result.code !== 0) throw new GitRefusal(what, result.stderr);
      return result.stdout;
    },
    async local(cwd, args, signal, input) {
      refuse();
      if (cwd === control) settle();
      const known = { ...plainEnvironment(env), ...LOCAL_ONLY, ...(await placeEnvironment(cwd)) };
      const limit = LONG.has(subcommandOf(args)) ? timeoutMs : Math.min(timeoutMs, SHORT_TIMEOUT_MS);
      const command = { args: [...SETTLED, ...args], cwd, env: known, ...ledger, timeoutMs: limit };
      return runGit(input === undefined ? command : { ...command, input }, signal);
    },
  };
}

/**
 * The branches of the remote, as the worktrees see them. Of the rewritten addresses in the settings git takes the longest
 * one that fits, and nobody but us knows this one.
 */
async function fetchIntoShared(repository: Repository, signal: AbortSignal): Promise<void> {
  const { control, shared } = repository;
  const address = `foray-${randomUUID()}`;
  const rewritten = ['-c', `url.${path.relative(shared, control)}.insteadOf=${address}`];
  const mirrored = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  const how = [...rewritten, 'fetch', '--quiet', '--prune', '--no-tags', address, ...mirrored];
  await gitOrThrow(repository, shared, how, signal);
}
