import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { hasDirectory } from './containment.ts';
import { eachWorkspaceName, workspaceKey } from './key.ts';
import { ownerOf, type Owner } from './marks.ts';

export interface SignedRoot {
  /** Real path of the root. */
  readonly root: string;
  /** What marks are signed with. */
  readonly key: string;
}

export interface DirectoryChoice {
  readonly name: string;
  readonly path: string;
  readonly exists: boolean;
  readonly owner: Owner;
}

/** The directory that is the issue's own, else the first one it may have: its plain name, unless that is another's. */
export function chooseDirectory(root: SignedRoot, subject: WorkspaceSubject): DirectoryChoice {
  return choose(candidatesFor(root, subject), root.root, subject);
}

/** The choice among what is there. */
export function choose(candidates: Iterable<DirectoryChoice>, root: string, subject: WorkspaceSubject): DirectoryChoice {
  let free: DirectoryChoice | null = null;
  for (const candidate of candidates) {
    if (isOwn(candidate)) return candidate;
    if (!candidate.exists || candidate.owner === 'nobody') free ??= candidate;
  }
  if (free) return free;
  const name = workspaceKey(subject.identifier);
  throw new WorkspaceError(
    'taken',
    `${path.join(root, name)} was made for another issue, tracker or daemon; move it away or change workspace.root`,
    { retryable: false },
  );
}

/** The directory that was made for this issue, or null. */
export function findOwnDirectory(root: SignedRoot, subject: WorkspaceSubject): DirectoryChoice | null {
  for (const candidate of candidatesFor(root, subject)) if (isOwn(candidate)) return candidate;
  return null;
}

/** A directory with the name that nobody marked, or null. */
export function findUnmarked(root: SignedRoot, subject: WorkspaceSubject): DirectoryChoice | null {
  const [plain] = candidatesFor(root, subject);
  return plain?.exists === true && plain.owner === 'nobody' ? plain : null;
}

export function isOwn({ exists, owner }: DirectoryChoice): boolean {
  return exists && owner === 'own';
}

/** Each is looked at when it is asked for: mostly the first one is the issue's own. */
function* candidatesFor({ root, key }: SignedRoot, subject: WorkspaceSubject): Iterable<DirectoryChoice> {
  for (const name of eachWorkspaceName(subject.identifier, subject.tracker)) {
    const directory = path.join(root, name);
    const exists = hasDirectory(directory);
    // Whoever a directory that is not there was meant for, it is anybody's to make.
    yield { name, path: directory, exists, owner: exists ? ownerOf(root, name, subject, key) : 'nobody' };
  }
}
