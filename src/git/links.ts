import { lstatSync, type Dirent } from 'node:fs';
import { lstat, readdir, readlink, rm } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';

/*
 * Agents can put links where the repositories behind the workspaces are: what git and we write and delete there would be
 * written and deleted wherever they lead.
 */

/** Not even looked into: what is behind it is a person's to judge. One that is replaced before the next use is worth another try. */
export function refuseLinks(folders: readonly string[], { retryable }: { readonly retryable: boolean }): void {
  for (const folder of folders) {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const detail = `${folder} is a symbolic link; remove it by hand after a look at it`;
    throw new WorkspaceError('refused', detail, { retryable });
  }
}

/** Takes the links out of a folder, and of nothing below it. */
export async function removeLinks(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder))
    if (entry.isSymbolicLink()) await rm(path.join(folder, entry.name), { force: true });
}

/** None for what is no folder; a link is not followed. */
export async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  const stats = await lstat(folder).catch(() => null);
  return stats?.isDirectory() ? readdir(folder, { withFileTypes: true }).catch(() => []) : [];
}

/** People link these to what several repositories share, and nothing of ours is written there. */
const SHARED_BY_PEOPLE: ReadonlySet<string> = new Set(['hooks', 'lfs']);

/** Whether a link in a repository leads git out of it. Git itself can be told to write references as links. */
export async function leadsAway(repository: string, link: string): Promise<boolean> {
  if (SHARED_BY_PEOPLE.has(path.relative(repository, link))) return false;
  const target = await readlink(link).catch(() => '');
  return !target.startsWith('refs/') || target.includes('..');
}
