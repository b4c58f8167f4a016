import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { runGit } from '../git/command.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { clearAs } from './as-user.ts';
import { DATA_FOLDER, look, realRoot } from './containment.ts';
import { removeIfThere } from './remove.ts';

/** The files by which an agent speaks to us. */
const NAMES = ['status', 'scm.json'] as const;
/** In bytes. */
const LONGEST = 64 * 1024;
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
      const mayBeCommitted = user !== null || isInRepository(workspace);
      for (const name of NAMES) {
        const file = fileOf(workspace, name);
        const texts = [await textOf(file), mayBeCommitted ? await committed(workspace, name, user, signal) : null];
        remember(file, new Set(texts.filter((text) => text !== null)));
        if (user) await clearAs(user, file);
        else await removeIfThere(file);
      }
    },
    async isPrepared(workspace, name) {
      const file = fileOf(workspace, name);
      const prepared = known.get(file);
      const text = prepared && (await textOf(file));
      return text != null && prepared?.has(text) === true;
    },
  };
}

/** Of a plain file of a size that could be a word of ours; a pipe or a link is never opened here. */
async function textOf(file: string): Promise<string | null> {
  const stats = lookOrNull(file);
  return stats?.isFile() === true && stats.size <= LONGEST ? readFile(file, 'utf8').catch(() => null) : null;
}

/** What cannot be looked at is told where it is read for its word. */
function lookOrNull(file: string): ReturnType<typeof look> {
  try {
    return look(file);
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

async function committed(workspace: string, name: string, user: ProgramUser | null, signal: AbortSignal): Promise<string | null> {
  const env = { PATH: process.env['PATH'] ?? '', GIT_TERMINAL_PROMPT: '0' };
  const command = { args: ['show', `HEAD:./${DATA_FOLDER}/${name}`], cwd: workspace, env, user, timeoutMs: 10_000 };
  try {
    const { code, stdout } = await runGit(command, signal);
    return code === 0 ? stdout : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
