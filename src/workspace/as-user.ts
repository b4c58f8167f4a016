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

/** Deletes what is ours: unlike us, the program goes down step by step, so that no path is too long. */
export async function removeByProgram(place: string): Promise<void> {
  await runAs(null, 'rm -rf -- "$1"', [place]);
}

/** As the daemon's own user where none is given. */
async function runAs(user: ProgramUser | null, script: string, args: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', ...(user && { HOME: user.home }) };
  const child = await startProcess({ command: 'sh', args: ['-c', script, 'sh', ...args], cwd: '/', env, user });
  for await (const line of child.lines()) void line;
  const { code } = await child.settled;
  if (code === 0) return;
  const why = firstLine(child.stderrTail()) || `exit status ${code}`;
  const [what, detail] = user ? ['agent.user', `as ${user.name}: ${why}`] : ['remove', why];
  throw new WorkspaceError(what, detail, { retryable: true });
}

const LONGEST_START = 300;
const LONGEST_END = 100;

/** One failure stands for all. Its path may be long, and the reason comes last. */
function firstLine(stderr: string): string {
  const [line = ''] = stderr.trim().split('\n', 1);
  const isShort = line.length <= LONGEST_START + LONGEST_END;
  return isShort ? line : `${line.slice(0, LONGEST_START)}…${line.slice(-LONGEST_END)}`;
}
