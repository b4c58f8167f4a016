import { createHash } from 'node:crypto';
import { WorkspaceError } from '../domain/model/errors.ts';

/** The longest file name that common file systems take. */
const LONGEST_NAME = 255;
const HASH_DIGITS = 16;

/**
 * The directory name of an identifier: characters outside of `[A-Za-z0-9._-]` become `_`, and a name that this or its
 * length changed carries a hash of the identifier, so that two identifiers never share a directory.
 */
export function workspaceKey(identifier: string): string {
  if (namesNone(identifier)) {
    throw new WorkspaceError('identifier', `"${identifier}" names no directory; give the issue another identifier`, {
      retryable: false,
    });
  }
  const name = identifier.replaceAll(/[^A-Za-z0-9._-]/gu, '_').replace(/^\.(?=foray-)/i, '_');
  if (name === identifier && name.length <= LONGEST_NAME) return name;
  return hashed(name, identifier);
}

/** The names a workspace may have: the plain one, and the one for when that is taken by another tracker or issue. */
export function workspaceNames(identifier: string, tracker: string): readonly string[] {
  return [...eachWorkspaceName(identifier, tracker)];
}

/** The same, each made when it is asked for. */
export function* eachWorkspaceName(identifier: string, tracker: string): Iterable<string> {
  if (namesNone(identifier)) return;
  const name = workspaceKey(identifier);
  yield name;
  yield hashed(name, tracker);
}

/** Identifiers that would mean the root itself or what is above it. */
export function namesNone(identifier: string): boolean {
  return identifier === '' || identifier === '.' || identifier === '..';
}

/** Whether a name under the root can be a workspace. */
export function isWorkspaceKey(name: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(name) && !/^\.foray-/i.test(name);
}

/** A name beside the workspaces that no identifier maps to. */
export function markNameOf(key: string): string {
  return `+unfinished-${hashOf(key)}`;
}

/** The name without dots that mean something to git, with a hash of it as it was. */
export function hashedName(name: string): string {
  return hashed(name.replaceAll('.', '_'), name);
}

function hashed(name: string, text: string): string {
  return `${name.slice(0, LONGEST_NAME - HASH_DIGITS - 1)}-${hashOf(text)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, HASH_DIGITS);
}
