import { existsSync } from 'node:fs';
import path from 'node:path';
import { createReadOnlyGit, type ReadOnlyGit } from '../git/read-only-git.ts';
import { readShortFile } from '../lib/short-file.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { clearAs } from './as-user.ts';
import { DATA_FOLDER, look, realRoot } from './containment.ts';
import { removeIfThere } from './remove.ts';

/** The files by which an agent speaks to us. */
const NAMES = ['status', 'scm.json'] as const;
const TIMEOUT_MS = 10_000;
export type AgentFile = (typeof NAMES)[number];

/** What lay there before a run, or stands in the repository's own commits: not the word of the run's agent. */
export interface EarlierFiles {
  /** Takes away what is there now and remembers it. */
  clear(workspace: string, signal: AbortSignal): Promise<void>;
  /** Whether the file says just what was prepared. */
  isPrepared(workspace: string, name: AgentFile): Promise<boolean>;
}

export function createEarlierFiles(user: ProgramUser | null = null): EarlierFiles {
  const known = new Map<string, ReadonlySet<string>>();
  const fileOf = (workspace: string, name: string): string => path.join(workspace, DATA_FOLDER, name);
  const remember = (file: string, texts: ReadonlySet<string>): void => {
    if (texts.size > 0) known.set(file, texts);
    else known.delete(file);
  };
  return {
    async clear(workspace, signal) {
      const git = user !== null || isInRepository(workspace) ? createReadOnlyGit(workspace, user, TIMEOUT_MS, signal) : null;
      for (const name of NAMES) {
        const file = fileOf(workspace, name);
        const isThere = look(file) !== null;
        const texts = [isThere ? textOf(file) : null, git && (await committed(git, name, signal))];
        remember(file, new Set(texts.filter((text) => text !== null)));
        if (isThere && user === null) await removeIfThere(file);
        if (user) await clearAs(user, file);
      }
    },
    async isPrepared(workspace, name) {
      const file = fileOf(workspace, name);
      const prepared = known.get(file);
      const text = prepared && textOf(file);
      return text != null && prepared?.has(text) === true;
    },
  };
}

/** Null for what is no plain file of a size that could be a word of an agent; what cannot be read is told where it is read for its word. */
function textOf(file: string): string | null {
  try {
    return readShortFile(file) || null;
  } catch {
    return null;
  }
}

/** As git looks for one. Where none is, no process is started to find that out; what another user owns is not looked into. */
function isInRepository(workspace: string): boolean {
  for (let place = realRoot(workspace); ; place = path.dirname(place)) {
    if (existsSync(path.join(place, '.git'))) return true;
    if (place === path.dirname(place)) return false;
  }
}

async function committed(git: ReadOnlyGit, name: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await git(['show', `HEAD:./${DATA_FOLDER}/${name}`]);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
