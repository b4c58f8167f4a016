import { chmod, chown, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import { startProcess, type ProgramUser } from '../lib/process/index.ts';
import { DATA_FOLDER } from './containment.ts';

/*
 * Where agents run as another user, what they can write is changed with that user's rights only: with ours, a link that they
 * put in the way of a deletion would lead it out of the workspace.
 */

/** Lets everybody through a directory, without seeing what is in it. */
export async function letThrough(directory: string): Promise<void> {
  const { mode } = await stat(directory);
  if ((mode & 0o001) === 0) await chmod(directory, (mode & 0o7777) | 0o011);
}

/** Gives a directory that was just made to the user. */
export async function giveTo(user: ProgramUser, directory: string): Promise<void> {
  await chown(directory, user.uid, user.gid);
}

/** Gets our folder in the workspace ready for a new run. */
export async function resetFolderAs(user: ProgramUser, workspace: string): Promise<void> {
  const folder = path.join(workspace, DATA_FOLDER);
  await runAs(user, RESET, [folder]);
}

const RESET = `set -e
[ -d "$1" ] && [ ! -L "$1" ] || { rm -rf -- "$1"; mkdir -- "$1"; }
rm -rf -- "$1/status" "$1/scm.json" "$1/.gitignore"
echo '*' > "$1/.gitignore"`;

export async function clearAs(user: ProgramUser, file: string): Promise<void> {
  await runAs(user, 'rm -rf -- "$1"', [file]);
}

/** Deletes a workspace: what is in it as the user, the empty directory ourselves, since the root above it is ours. */
export async function removeTreeAs(user: ProgramUser, directory: string): Promise<void> {
  await runAs(user, EMPTY, [directory]);
  await rmdir(directory);
}

/** Module caches are full of read-only directories. */
const EMPTY = `cd -- "$1" || exit 1
chmod -R u+rwX . 2>/dev/null
find . -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +`;

async function runAs(user: ProgramUser, script: string, args: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: user.home };
  const child = await startProcess({ command: 'sh', args: ['-c', script, 'sh', ...args], cwd: '/', env, user });
  for await (const line of child.lines()) void line;
  const { code } = await child.settled;
  if (code === 0) return;
  throw new WorkspaceError('agent.user', `as ${user.name}: ${child.stderrTail().trim() || `exit status ${code}`}`, {
    retryable: true,
  });
}
