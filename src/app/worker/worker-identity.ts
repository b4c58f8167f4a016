import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { readShortFile, replaceShortFile } from '../../lib/short-file.ts';

/** Beside the workspaces. */
const FILE = '.foray-worker';
const IDENTITY = /^[0-9a-f]{8}$/;

/**
 * Which workspaces a worker holds: it is stored with them, so that it stays the same over restarts and goes where they go,
 * and differs between containers whatever their hosts are called.
 */
export function workerIdentity(root: string): string {
  const file = path.join(root, FILE);
  const stored = storedIn(file);
  if (stored !== null) return stored;
  const made = randomBytes(4).toString('hex');
  replaceShortFile(file, `${made}\n`, 0o600);
  return made;
}

function storedIn(file: string): string | null {
  const text = readShortFile(file)?.trim() ?? '';
  return IDENTITY.test(text) ? text : null;
}
