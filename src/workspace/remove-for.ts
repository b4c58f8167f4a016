import path from 'node:path';
import type { ProgramUser } from '../lib/process/index.ts';
import type { Removal, RemovalSubject } from '../ports/workspace.ts';
import { clearOldRemovals, moveAside } from './move-aside.ts';
import { findOwnDirectory, findUnmarked, type DirectoryChoice, type SignedRoot } from './choose-directory.ts';
import { hasDirectory, look, realRoot } from './containment.ts';
import type { RunHook } from './hooks.ts';
import { workspaceNames } from './key.ts';
import { dropMark } from './marks.ts';
import { removeWorkspace } from './remove.ts';
import { clearUnfinished } from './unfinished-mark.ts';
import { dropWorkNote } from './work-note.ts';

interface RemoveForDeps {
  /** How long a directory that was moved aside is kept. */
  readonly removedDays: number;
  readonly runHook: RunHook;
  readonly user: ProgramUser | null;
}

/** Removes what is the issue's own, also where the root was another one before. */
export async function removeFor(
  place: SignedRoot,
  subject: RemovalSubject,
  deps: RemoveForDeps,
  signal: AbortSignal,
): Promise<Removal> {
  let removal = await removeHere(place, subject, deps, signal);
  for (const former of formerPlaces(place, subject)) {
    const own = ownIn(former, subject);
    if (own && subject.paths?.includes(own.path)) removal = await removeOwn(former, own, subject, deps, signal);
  }
  return removal;
}

/** What nobody marked is moved aside, what is another's is not touched. */
async function removeHere(
  place: SignedRoot,
  subject: RemovalSubject,
  deps: RemoveForDeps,
  signal: AbortSignal,
): Promise<Removal> {
  await clearOldRemovals(place.root, deps.removedDays, Date.now());
  const own = ownIn(place, subject);
  if (own) return removeOwn(place, own, subject, deps, signal);
  const unmarked = findUnmarked(place, subject);
  if (!unmarked) {
    for (const name of workspaceNames(subject.identifier, subject.tracker)) forgetUnfinished(path.join(place.root, name));
    return { removed: false, path: '', aside: null };
  }
  return { removed: true, path: unmarked.path, aside: await moveAside(place.root, unmarked.name, Date.now()) };
}

/** The roots before, which the directories were made under. One that a link leads to by now is not what it was. */
function formerPlaces({ root, key }: SignedRoot, { paths = [] }: RemovalSubject): readonly SignedRoot[] {
  const roots = new Set(paths.map((recorded) => path.dirname(recorded)).filter((parent) => parent !== root));
  return [...roots].filter((parent) => realRoot(parent) === parent).map((parent) => ({ root: parent, key }));
}

/** The directory that is marked as the issue's, or is known to be without a mark. */
function ownIn(place: SignedRoot, subject: RemovalSubject): DirectoryChoice | null {
  const own = findOwnDirectory(place, subject);
  if (own || subject.recorded !== true) return own;
  const unmarked = findUnmarked(place, subject);
  const { paths = [] } = subject;
  return unmarked && (paths.length === 0 || paths.includes(unmarked.path)) ? unmarked : null;
}

async function removeOwn(
  place: SignedRoot,
  own: DirectoryChoice,
  subject: RemovalSubject,
  deps: RemoveForDeps,
  signal: AbortSignal,
): Promise<Removal> {
  const { removed } = await removeWorkspace(own.path, subject, deps, signal);
  // One that is there again was made for another issue meanwhile, and so was its mark.
  if (look(own.path) === null) {
    dropMark(place.root, own.name);
    dropWorkNote(place.root, own.name);
  }
  return { removed, path: own.path, aside: null };
}

/** A crash may have left its note after the directory was gone. */
function forgetUnfinished(directory: string): void {
  if (!hasDirectory(directory)) clearUnfinished(directory);
}
