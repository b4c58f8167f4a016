import { existsSync } from 'node:fs';
import path from 'node:path';
import { makeDirectories } from '../lib/make-directories.ts';
import { removePlace } from '../lib/remove-place.ts';
import { replaceShortFile } from '../lib/short-file.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { refuseLinks, removeLinks } from './links.ts';
import { removeSharedLocks } from './locks.ts';
import { removePipesAndLinks } from './pipes.ts';
import type { Repository } from './repository.ts';
import { removeDetours } from './worktree-directory.ts';

/**
 * Makes what is missing of `control` and `shared`, and replaces what an agent put in the place of files that git reads. Says
 * 'new' where `control` was begun anew, and knows no branch of the remote.
 */
export async function prepareRepositories(repository: Repository, folder: string, signal: AbortSignal): Promise<'new' | 'kept'> {
  const { control, shared } = repository;
  refuseLinks([path.dirname(folder), folder], { retryable: false });
  await makeDirectories(folder, 0o700);
  await removeLinks(folder);
  await removePipesAndLinks([control, shared], signal);
  const isNew = !isRepository(control);
  for (const place of [control, shared]) {
    removeDetours(place);
    await removeSharedLocks(place);
    if (!isRepository(place)) await init(repository, folder, place, signal);
  }
  await makeDirectories(path.join(shared, 'objects', 'info'), 0o755);
  replaceShortFile(path.join(shared, 'objects', 'info', 'alternates'), `${path.join(control, 'objects')}\n`);
  await makeDirectories(path.join(shared, 'info'), 0o755);
  replaceShortFile(path.join(shared, 'info', 'exclude'), '/.foray/\n');
  await removePlace(path.join(shared, 'info', 'attributes'));
  await settleShared(repository, folder, signal);
  return isNew ? 'new' : 'kept';
}

/** One that lacks any of them is begun again, which leaves alone what is there. */
function isRepository(place: string): boolean {
  return ['HEAD', 'config', 'objects', 'refs'].every((name) => existsSync(path.join(place, name)));
}

async function init(repository: Repository, folder: string, place: string, signal: AbortSignal): Promise<void> {
  await gitOrThrow(repository, folder, ['init', '--quiet', '--bare', place], signal);
}

/** These change the files of all issues, or keep git from working at all; git finds out anew what it knew of the disk. */
const FOREIGN: readonly ((key: string, value: string) => boolean)[] = [
  (key) => /^core\.(?:attributesfile|autocrlf|eol|worktree)$|^include(?:if\..*)?\.path$/s.test(key),
  (key) => /^extensions\.(?!worktreeconfig$)/.test(key),
  (key, value) => (key === 'core.filemode' || key === 'core.bare') && value !== 'true',
  (key, value) => key === 'core.repositoryformatversion' && !/^[01]$/.test(value),
];

/** Each is taken out by a command of its own: a file with more of them is begun anew. */
const MOST_FOREIGN = 10;

/** Agents change the settings of the repository that their worktrees share by a plain `git config`: what is left there holds for all others. */
async function settleShared(repository: Repository, folder: string, signal: AbortSignal): Promise<void> {
  const { shared, url } = repository;
  const file = path.join(shared, 'config');
  const told = await repository.local(folder, ['config', '--file', file, '--null', '--list'], signal);
  const found = told.code === 0 ? configEntries(told.stdout) : [];
  const foreign = new Set(found.filter(([key, value]) => FOREIGN.some((is) => is(key, value))).map(([key]) => key));
  const isKept = told.code === 0 && foreign.size <= MOST_FOREIGN;
  const entries = isKept ? found : [];
  const edit = (...args: readonly string[]) => gitOrThrow(repository, folder, ['config', '--file', file, ...args], signal);
  if (isKept) for (const key of foreign) await edit('--unset-all', key);
  else await removePlace(file);
  if (!isKept || foreign.size > 0) await init(repository, folder, shared, signal);
  const wanted = { 'remote.origin.url': url, 'remote.origin.fetch': '+refs/heads/*:refs/remotes/origin/*', 'gc.auto': '0' };
  for (const [key, value] of Object.entries(wanted)) {
    const set = entries.filter(([name]) => name === key);
    if (set.length !== 1 || set[0]?.[1] !== value) await edit('--replace-all', key, value);
  }
}

/** Each as its name, a line break and its value. */
function configEntries(told: string): readonly (readonly [string, string])[] {
  const lines = told.split('\0').filter((line) => line !== '');
  return lines.map((line) => {
    const end = line.indexOf('\n');
    return end < 0 ? [line, 'true'] : [line.slice(0, end), line.slice(end + 1)];
  });
}
