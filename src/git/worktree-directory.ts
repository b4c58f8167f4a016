import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { WorkspaceError } from '../domain/model/errors.ts';
import { clearPlace } from '../lib/remove-place.ts';
import { readShortFile, replaceShortFile } from '../lib/short-file.ts';

/** Removes what would lead git from a repository to another one, whose settings and references an agent wrote. */
export function removeDetours(repository: string): void {
  for (const name of ['commondir', '.git']) clearPlace(path.join(repository, name));
}

/** Tells git that a repository is the one it stands in: its settings count also where a detour comes back meanwhile. */
export function repositoryEnvironment(repository: string): Readonly<Record<string, string>> {
  removeDetours(repository);
  return { GIT_DIR: repository, GIT_COMMON_DIR: repository };
}

/**
 * Tells git where the repository of a worktree is. Git would ask the file `.git` in it, which the agent can write: it could
 * lead to settings of the agent's own, which name programs to run and directories to commit, outside of whatever fence the
 * agent itself is in.
 */
export async function worktreeEnvironment(shared: string, worktree: string): Promise<Readonly<Record<string, string>>> {
  const folder = path.join(shared, 'worktrees');
  const place = path.join(await realpath(worktree), '.git');
  // Git calls them after their directories, unless that name was taken.
  const likely = [path.basename(worktree), path.basename(repositoryNamedIn(worktree) ?? '')].filter(
    (name) => !/^\.*$/.test(name),
  );
  const found = firstOf(folder, likely, place) ?? (await searched(folder, place));
  if (found === null) {
    const detail = `${worktree} is no worktree of the repository any more; remove it by hand after a look at it`;
    throw new WorkspaceError('repo', detail, { retryable: false });
  }
  replaceShortFile(path.join(found, 'commondir'), '../..\n');
  return { GIT_DIR: found, GIT_COMMON_DIR: shared, GIT_WORK_TREE: worktree };
}

/** What the file `.git` of a directory names as its repository; null where it names none. The agent can write it. */
export function repositoryNamedIn(directory: string): string | null {
  const named = /^gitdir: ([^\0\n]+)/.exec(readShortFile(path.join(directory, '.git')) ?? '')?.[1];
  return named === undefined ? null : path.resolve(directory, named);
}

/** So many are read at once. */
const SLICE = 100;

/** Agents may have put very many there: the service goes on meanwhile. */
async function searched(folder: string, place: string): Promise<string | null> {
  const names = await readdir(folder).catch((): string[] => []);
  for (let at = 0; at < names.length; at += SLICE) {
    const found = firstOf(folder, names.slice(at, at + SLICE), place);
    if (found !== null) return found;
    await setImmediate();
  }
  return null;
}

function firstOf(folder: string, names: readonly string[], place: string): string | null {
  return names.map((name) => path.join(folder, name)).find((directory) => placeOf(directory) === place) ?? null;
}

/** The file `.git` of the worktree that belongs to it. */
function placeOf(directory: string): string | null {
  try {
    const text = readShortFile(path.join(directory, 'gitdir'));
    return text && path.resolve(directory, text.trim());
  } catch {
    return null;
  }
}
