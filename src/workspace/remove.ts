import { chmod, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { codeOf } from '../lib/error-code.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { removeByProgram, removeTreeAs } from './as-user.ts';
import { hasDirectory, look } from './containment.ts';
import type { RunHook } from './hooks.ts';
import { clearUnfinished, markUnfinished } from './unfinished-mark.ts';

/** Runs `before_remove`, whose failure changes nothing, and deletes the directory. */
export async function removeWorkspace(
  workspace: string,
  subject: WorkspaceSubject,
  { runHook, user }: { readonly runHook: RunHook; readonly user: ProgramUser | null },
  signal: AbortSignal,
): Promise<{ readonly removed: boolean }> {
  signal.throwIfAborted();
  if (!hasDirectory(workspace)) {
    clearUnfinished(workspace);
    return { removed: false };
  }
  await runHook('before_remove', subject, workspace, signal);
  signal.throwIfAborted();
  if (hasDirectory(workspace)) {
    markUnfinished(workspace);
    await removeTree(workspace, user);
  }
  if (look(workspace) === null) clearUnfinished(workspace);
  return { removed: true };
}

/** A closed directory is in the way, or a path that is too long for the system. */
const IN_THE_WAY: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG']);

/** Deletes a directory and what is in it. Links are deleted, never followed. */
export async function removeTree(directory: string, user: ProgramUser | null = null): Promise<void> {
  if (user) return removeTreeAs(user, directory);
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  } catch (error) {
    if (!IN_THE_WAY.has(codeOf(error))) throw error;
    // Module caches are full of read-only directories.
    if (look(directory)?.isDirectory()) await makeWritable(directory);
    await removeByProgram(directory);
  }
}

/** Deletes whatever is at a place. Mostly nothing is. */
export async function removeIfThere(place: string): Promise<void> {
  if (look(place) !== null) await removeTree(place);
}

/** As deep as a path can name. */
async function makeWritable(directory: string): Promise<void> {
  await chmod(directory, 0o700).catch(() => {});
  for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await makeWritable(path.join(directory, entry.name));
  }
}
