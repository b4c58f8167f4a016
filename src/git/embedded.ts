import path from 'node:path';
import { baseCommit } from './commits.ts';
import type { Repository } from './repository.ts';
import { leftForPerson } from './unfinished-operation.ts';
import type { Worktree } from './worktree.ts';

/** A change that puts a link to a commit of another repository where there was none. */
const NEW_LINK = /^:(?!160000)\d+ 160000 /;

/** Of a repository inside of the work git takes no file, only the name of a commit that nobody else has. A submodule is told by `.gitmodules`. */
export async function refuseEmbedded(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<void> {
  const range = `${await baseCommit(repository, signal)}...HEAD`;
  const asked = ['diff', '--raw', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=none', range];
  const { stdout } = await repository.local(worktree.path, asked, signal);
  const told = stdout.split('\0');
  const links = told.flatMap((line, index) => (NEW_LINK.test(line) ? [told[index + 1] ?? ''] : []));
  if (links.length === 0) return;
  const submodules = await submodulePaths(repository, worktree, signal);
  const embedded = links.find((link) => !submodules.has(link));
  if (embedded === undefined) return;
  const what = `${path.join(worktree.path, embedded)} is a repository of its own, of which no file would be pushed`;
  throw leftForPerson(`${what}: take it out (git rm --cached) and remove its .git or the folder, or make it a submodule`);
}

async function submodulePaths(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const asked = ['config', '--blob', 'HEAD:.gitmodules', '--null', '--get-regexp', String.raw`^submodule\..*\.path$`];
  const { stdout } = await repository.local(worktree.path, asked, signal);
  return new Set(stdout.split('\0').map((entry) => entry.slice(entry.indexOf('\n') + 1)));
}
