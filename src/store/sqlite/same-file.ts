import { statSync, type Stats } from 'node:fs';
import { StoreError } from '../errors.ts';

/**
 * Throws once the file is no longer the one that was opened: what is written then is lost with this process. Only looked
 * at, never opened: closing a file lets go of every lock that this process has on it.
 */
export function createFileCheck(path: string): () => void {
  const opened = look(path);
  return () => {
    const there = look(path);
    if (opened === null || (there?.ino === opened.ino && there.dev === opened.dev && there.size > 0)) return;
    throw new StoreError({ path, ...wordsFor(there) });
  };
}

function wordsFor(there: Stats | null): { kind: 'missing' | 'corrupt'; what: string; remedy: string } {
  if (there === null) {
    return {
      kind: 'missing',
      what: 'was removed under the service',
      remedy: 'put it back, or restart to begin with an empty one',
    };
  }
  const what = there.size === 0 ? 'was emptied under the service' : 'was replaced under the service';
  return { kind: 'corrupt', what, remedy: 'restart the service on the right file, from a backup where it is lost' };
}

function look(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
