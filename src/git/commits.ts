import { WorkspaceError } from '../domain/model/errors.ts';
import { gitOrThrow } from './git-or-throw.ts';
import type { Repository } from './repository.ts';

/** What is to be pushed to a branch. */
export function offeredRef(branch: string): string {
  return `refs/foray/offered/${branch}`;
}

/** What was pushed by us to a branch the last time. */
export function pushedRef(branch: string): string {
  return `refs/foray/pushed/${branch}`;
}

/** Where a branch of the remote was when the work on it began; the work held all of it then. */
export function begunRef(branch: string): string {
  return `refs/foray/begun/${branch}`;
}

/** Null where there is no such commit. */
export async function commitAt(repository: Repository, where: string, ref: string, signal: AbortSignal): Promise<string | null> {
  const found = await repository.local(where, ['rev-parse', '--quiet', '--verify', `${ref}^{commit}`], signal);
  return found.code === 0 ? found.stdout.trim() : null;
}

/** What is checked out in a worktree. */
export async function headOf(repository: Repository, path: string, signal: AbortSignal): Promise<string> {
  return (await gitOrThrow(repository, path, ['rev-parse', '--verify', 'HEAD^{commit}'], signal)).trim();
}

/** Where a branch of the remote is, as far as the last refresh knows. What `shared` says of it, every agent can move. */
export async function remoteCommit(repository: Repository, branch: string, signal: AbortSignal): Promise<string | null> {
  return commitAt(repository, repository.control, `refs/heads/${branch}`, signal);
}

/** What was pushed by us to a branch the last time. */
export async function pushedCommit(repository: Repository, branch: string, signal: AbortSignal): Promise<string | null> {
  return commitAt(repository, repository.control, pushedRef(branch), signal);
}

/** Where the base branch of the remote is. */
export async function baseCommit(repository: Repository, signal: AbortSignal): Promise<string> {
  const base = repository.baseBranch();
  const found = await remoteCommit(repository, base, signal);
  if (found !== null) return found;
  const detail = `${repository.url} has no branch ${base}: push it, or name another one as workspace.base_branch`;
  throw new WorkspaceError('repo', detail, { retryable: true });
}

/** Whether the second has all that the first has. Commits of a run are in `shared` alone until they are pushed. */
export async function isWithin(
  { local, shared }: Repository,
  commit: string,
  whole: string,
  signal: AbortSignal,
  where = shared,
): Promise<boolean> {
  return commit === whole || (await local(where, ['merge-base', '--is-ancestor', commit, whole], signal)).code === 0;
}

/** Whether all of a commit was pushed by us, as far as we know: a branch that others set back still is. */
export async function isOurs(repository: Repository, branch: string, commit: string, signal: AbortSignal): Promise<boolean> {
  const pushed = await pushedCommit(repository, branch, signal);
  return pushed !== null && isWithin(repository, commit, pushed, signal, repository.control);
}

/** Changes references of `control`, all of them or none. Each line is one of `git update-ref --stdin`. */
export async function updateRefs(repository: Repository, lines: readonly string[], signal: AbortSignal): Promise<void> {
  if (lines.length === 0) return;
  const input = lines.map((line) => `${line}\n`).join('');
  const result = await repository.local(repository.control, ['update-ref', '--stdin'], signal, input);
  if (result.code !== 0) throw new WorkspaceError('git', `git update-ref: ${result.stderr.slice(-400)}`, { retryable: true });
}

/** What stays of a commit when it is rebased: who wrote it, when, and how it is called. Merges have nothing of their own. Newest first. */
export async function identify(
  repository: Repository,
  which: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const how = ['rev-list', '--no-merges', '--topo-order', '--date=raw', '--format=%H %an <%ae> %ad %s'];
  const told = linesOf(await gitOrThrow(repository, repository.shared, [...how, ...which], signal));
  const lines = told.filter((line) => !line.startsWith('commit '));
  // What is told is cut somewhere.
  if (!lines.every((line) => /^[0-9a-f]{40,64} /.test(line)))
    throw new WorkspaceError('git', 'the branch has more commits than can be told apart: rebase it', { retryable: false });
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' '))]));
}

export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** The configured author; where there is none, ourselves. */
export async function authorOf(repository: Repository, cwd: string, signal: AbortSignal): Promise<readonly string[]> {
  const email = await repository.local(cwd, ['config', 'user.email'], signal);
  return email.code === 0 && email.stdout.trim() !== '' ? [] : ['-c', 'user.name=Foray', '-c', 'user.email=foray@localhost'];
}
