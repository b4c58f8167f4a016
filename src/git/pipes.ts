import type { Dirent, Stats } from 'node:fs';
import { realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import { readShortFile } from '../lib/short-file.ts';
import { entriesOf, leadsAway } from './links.ts';
import { repositoryNamedIn } from './worktree-directory.ts';

/*
 * Git opens whatever stands where it expects a file, and waits for a pipe for ever. Agents can put one into their
 * repositories, and into the one that all worktrees share, where it would hold up every other issue.
 */

/** What git reads of a repository besides the files in its own folder. */
const FOLDERS = ['info', 'logs', 'objects', 'refs', 'worktrees'];

/**
 * Takes the pipes and devices out of these repositories: none of them ever held anything. And the links that lead out of
 * them: git would write wherever they lead.
 */
export async function removePipesAndLinks(repositories: readonly string[], signal: AbortSignal): Promise<void> {
  const found: string[] = [];
  for (const repository of repositories) {
    const isMeant: Judge = async (place, entry) =>
      (entry.isSymbolicLink() && (await leadsAway(repository, place))) || holdsUp(place);
    found.push(...(await trapsOf(repository, isMeant, signal)));
  }
  for (const place of found) await rm(place, { force: true });
}

/**
 * Takes the pipes and devices out of the repository of a directory, as far as it is in there. Elsewhere they are refused: the
 * agent says where it is, and may name any folder. So they are where another user could swap what is to be removed.
 */
export async function clearPipes(
  directory: string,
  { mayRemove }: { readonly mayRemove: boolean },
  signal: AbortSignal,
): Promise<void> {
  const own = `${await realpath(directory)}${path.sep}`;
  for (const repository of repositoriesOf(directory)) {
    const place = await realpath(repository).catch(() => null);
    const pipes = place === null ? [] : await trapsOf(place, holdsUp, signal);
    for (const pipe of pipes) {
      if (!pipe.startsWith(own)) throw ledTo(pipe, path.join(directory, '.git'));
      if (!mayRemove) throw refused(pipe);
      await rm(pipe, { force: true });
    }
  }
}

/** Files of the work itself that git reads first, and that are the agent's to put right. */
export async function refuseWorkPipes(directory: string): Promise<void> {
  for (const name of ['.gitattributes', '.gitignore', '.gitmodules']) {
    const file = path.join(directory, name);
    if (await holdsUp(file)) throw refused(file);
  }
}

/** The folders that git keeps the repository of a directory in, as the directory names them; none where it has none of its own. */
function repositoriesOf(directory: string): readonly string[] {
  const own = repositoryNamedIn(directory) ?? path.join(directory, '.git');
  const common = readShortFile(path.join(own, 'commondir'))?.trim();
  return common ? [own, path.resolve(own, common)] : [own];
}

/** Whether what is neither a file nor a folder is looked for. */
type Judge = (place: string, entry: Dirent) => Promise<boolean>;

async function trapsOf(repository: string, isMeant: Judge, signal: AbortSignal): Promise<readonly string[]> {
  const found = [...(await trapsIn(repository, { isDeep: false, isMeant }, signal))];
  for (const folder of FOLDERS) found.push(...(await trapsIn(path.join(repository, folder), { isDeep: true, isMeant }, signal)));
  return found;
}

/** Folders that a link leads to are left alone. */
async function trapsIn(
  folder: string,
  how: { readonly isDeep: boolean; readonly isMeant: Judge },
  signal: AbortSignal,
): Promise<readonly string[]> {
  signal.throwIfAborted();
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(how.isDeep ? await trapsIn(place, how, signal) : []));
    else if (!entry.isFile() && (await how.isMeant(place, entry))) found.push(place);
  }
  return found;
}

/** Also by a link. A socket does not: opening it fails at once. */
async function holdsUp(place: string): Promise<boolean> {
  const stats: Stats | null = await stat(place).catch(() => null);
  return stats !== null && (stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice());
}

/** What is there may be in use, as the devices of the system are. */
function ledTo(pipe: string, dotGit: string): WorkspaceError {
  const detail = `${dotGit} leads git to ${pipe}, a pipe or a device, which git would wait for`;
  return new WorkspaceError('refused', `${detail}; remove ${dotGit} by hand after a look at it`, { retryable: false });
}

function refused(place: string): WorkspaceError {
  const detail = `${place} is a pipe or a device, which git would wait for; remove it by hand after a look at it`;
  return new WorkspaceError('refused', detail, { retryable: false });
}
