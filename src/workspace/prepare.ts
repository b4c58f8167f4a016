import { mkdirSync, writeFileSync } from 'node:fs';
import { codeOf } from '../lib/error-code.ts';
import { makeDirectories } from '../lib/make-directories.ts';
import { readShortFile } from '../lib/short-file.ts';
import path from 'node:path';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { giveTo, letThrough, resetFolderAs } from './as-user.ts';
import { DATA_FOLDER, hasDirectory, look, refused } from './containment.ts';
import type { Delivery } from './delivery.ts';
import type { RunHook } from './hooks.ts';
import { putMark } from './marks.ts';
import { chooseDirectory, type SignedRoot } from './choose-directory.ts';
import { clearUnfinished, isUnfinished, markUnfinished } from './unfinished-mark.ts';
import { removeIfThere, removeTree } from './remove.ts';
import { dropWorkNote } from './work-note.ts';

/** Not for everybody: a workspace holds source code and what the agent leaves behind. */
const DIRECTORY_MODE = 0o750;

/** What a new directory is filled with. */
export interface Filling {
  /** Whose the directory is to be, where it is not the daemon's own user. */
  readonly user: ProgramUser | null;
  /** Null: hooks alone fill it. */
  readonly delivery: Delivery | null;
  readonly runHook: RunHook;
}

/** Makes the directory when it is missing and gets our folder in it ready for a new run. */
export async function prepareWorkspace(
  place: SignedRoot,
  subject: WorkspaceSubject,
  filling: Filling,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly created: boolean }> {
  signal.throwIfAborted();
  if (look(place.root) === null) await makeDirectories(place.root, DIRECTORY_MODE);
  if (filling.user) await letThrough(place.root);
  let choice = chooseDirectory(place, subject);
  if (isUnfinished(choice.path)) {
    await discardUnfinished(choice.path, filling.user);
    choice = chooseDirectory(place, subject);
  }
  // In one go from the choice on: an issue of the same name that begins at the same moment finds the directory taken.
  const { path: workspace } = choice;
  if (choice.owner !== 'own') putMark(place.root, choice, subject, place.key);
  const isFilledLater = isFilled(subject, filling);
  const created = !choice.exists;
  if (created) dropWorkNote(place.root, choice.name);
  if (created) makeDirectory(workspace, isFilledLater);
  if (created && filling.user) await giveTo(filling.user, workspace);
  if (created && isFilledLater) await finishCreation(workspace, subject, filling, signal);
  const isEmpty = created && !isFilledLater;
  if (!isEmpty || !isDataFolderMade(workspace)) await resetDataFolder(workspace, filling.user);
  return { path: workspace, created };
}

/** A directory that a crash left half made or half deleted is not worked in. */
async function discardUnfinished(workspace: string, user: ProgramUser | null): Promise<void> {
  if (!isUnfinished(workspace)) return;
  if (hasDirectory(workspace)) await removeTree(workspace, user);
  clearUnfinished(workspace);
}

/** Whether anything stands between a directory that is made and one that is ready. */
function isFilled({ hooks }: WorkspaceSubject, { delivery, user }: Filling): boolean {
  return delivery !== null || user !== null || hooks.afterCreate !== null;
}

function makeDirectory(workspace: string, isFilledLater: boolean): void {
  if (isFilledLater) markUnfinished(workspace);
  mkdirSync(workspace, { mode: DIRECTORY_MODE });
}

/** Checks the repository out where one is set, then runs `after_create`; without one the hook finds an empty directory. */
async function finishCreation(
  workspace: string,
  subject: WorkspaceSubject,
  { delivery, runHook, user }: Filling,
  signal: AbortSignal,
): Promise<void> {
  try {
    await delivery?.checkOut(workspace, subject, signal);
    const failure = await runHook('after_create', subject, workspace, signal);
    if (failure !== null) throw failure;
  } catch (error) {
    await discardUnfinished(workspace, user);
    throw error;
  }
  clearUnfinished(workspace);
}

/** Whether our folder could be made in a directory that is new and empty. */
function isDataFolderMade(workspace: string): boolean {
  const folder = path.join(workspace, DATA_FOLDER);
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  ignoreAll(folder);
  return true;
}

/** Clears what was said before this run, by whomever: it is not this agent's word. */
async function resetDataFolder(workspace: string, user: ProgramUser | null): Promise<void> {
  if (!hasDirectory(workspace)) throw refused(workspace, 'was taken away by its own hook');
  if (user) return resetFolderAs(user, workspace);
  const folder = path.join(workspace, DATA_FOLDER);
  if (!hasDirectory(folder)) mkdirSync(folder);
  for (const name of ['status', 'scm.json']) await removeIfThere(path.join(folder, name));
  await keepOutOfGit(folder);
}

/** Our folder must not end up in the agent's commits. */
async function keepOutOfGit(folder: string): Promise<void> {
  const file = path.join(folder, '.gitignore');
  const stats = look(file);
  if (stats !== null && readShortFile(file) === IGNORED) return;
  if (stats !== null) await removeTree(file);
  ignoreAll(folder);
}

function ignoreAll(folder: string): void {
  try {
    // Exclusive: a link put here meanwhile is not followed.
    writeFileSync(path.join(folder, '.gitignore'), IGNORED, { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

const IGNORED = '*\n';
