import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { codeOf, DATA_FOLDER, hasDirectory, look, refused } from './containment.ts';
import type { RunHook } from './hooks.ts';
import { clearUnfinished, isUnfinished, markUnfinished } from './unfinished.ts';
import { removeTree } from './remove.ts';

/** Not for everybody: a workspace holds source code and what the agent leaves behind. */
const DIRECTORY_MODE = 0o750;

/** Makes the directory when it is missing and gets our folder in it ready for a new run. */
export async function prepareWorkspace(
  workspace: string,
  subject: WorkspaceSubject,
  runHook: RunHook,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly created: boolean }> {
  signal.throwIfAborted();
  await mkdir(path.dirname(workspace), { recursive: true, mode: DIRECTORY_MODE });
  await discardUnfinished(workspace);
  const created = await createDirectory(workspace);
  if (created) await finishCreation(workspace, subject, runHook, signal);
  await resetDataFolder(workspace);
  return { path: workspace, created };
}

/** A directory that a crash left half made or half deleted is not worked in. */
async function discardUnfinished(workspace: string): Promise<void> {
  if (!(await isUnfinished(workspace))) return;
  if (await hasDirectory(workspace)) await removeTree(workspace);
  await clearUnfinished(workspace);
}

async function createDirectory(workspace: string): Promise<boolean> {
  if (await hasDirectory(workspace)) return false;
  await markUnfinished(workspace);
  await mkdir(workspace, { mode: DIRECTORY_MODE });
  return true;
}

/** Runs `after_create` in the still empty directory, as `git clone … .` needs it. */
async function finishCreation(
  workspace: string,
  subject: WorkspaceSubject,
  runHook: RunHook,
  signal: AbortSignal,
): Promise<void> {
  const failure = await runHook('after_create', subject, workspace, signal);
  if (failure !== null) await discardUnfinished(workspace);
  else await clearUnfinished(workspace);
  if (failure !== null) throw failure;
}

/** Clears what an earlier run said. `scm.json` stays: a later run still belongs to the merge request it names. */
async function resetDataFolder(workspace: string): Promise<void> {
  if (!(await hasDirectory(workspace))) throw refused(workspace, 'was taken away by its own hook');
  const folder = path.join(workspace, DATA_FOLDER);
  if (!(await hasDirectory(folder))) await mkdir(folder);
  await rm(path.join(folder, 'status'), { force: true, recursive: true });
  await keepOutOfGit(folder);
}

/** Our folder must not end up in the agent's commits. */
async function keepOutOfGit(folder: string): Promise<void> {
  const file = path.join(folder, '.gitignore');
  const stats = await look(file);
  if (stats?.isFile() === true && (await readFile(file, 'utf8').catch(() => '')) === '*\n') return;
  if (stats !== null) await rm(file, { force: true, recursive: true });
  // Exclusive: a link put here meanwhile is not followed.
  await writeFile(file, '*\n', { flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}
