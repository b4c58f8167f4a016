import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createLookingGit } from '../git/looking.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { DATA_FOLDER, look } from './containment.ts';

const TIMEOUT_MS = 60_000;
/** Submodules in submodules. */
const MOST_LEVELS = 5;

/**
 * What the work in a workspace amounts to, as one text that differs when something was done: in a git repository its
 * commits, branches and changed files, elsewhere every file. What an agent says of itself in our folder does not count.
 */
export async function fingerprintOf(workspace: string, signal: AbortSignal, user: ProgramUser | null = null): Promise<string> {
  const found = await describeRepository(workspace, { signal, user, levels: MOST_LEVELS });
  return hashOf(found ?? [await describeAll(workspace, '')]);
}

interface Looking {
  readonly signal: AbortSignal;
  readonly user: ProgramUser | null;
  readonly levels: number;
}

/** Null where there is no repository. */
async function describeRepository(directory: string, looking: Looking): Promise<readonly string[] | null> {
  const { signal, user } = looking;
  const git = createLookingGit(directory, user, TIMEOUT_MS, signal);
  const filters = await git(['config', '--name-only', '--null', '--get-regexp', String.raw`^filter\.`]).catch(() => null);
  signal.throwIfAborted();
  const status = await git(STATUS, withoutFilters(filters?.split('\0') ?? [])).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof Error) return null;
    throw error;
  });
  if (status === null) return null;
  const entries = status.split('\0').filter((entry) => entry !== '' && !entry.slice(3).startsWith(`${DATA_FOLDER}/`));
  const changed = await Promise.all(
    entries.map(async (entry) => `${entry}\n${await describe(path.join(directory, entry.slice(3)))}`),
  );
  const submodules = await describeSubmodules(directory, (await git(['ls-files', '--stage', '-z'])) ?? '', looking);
  return [(await git(['rev-parse', 'HEAD'])) ?? '', (await git(['for-each-ref'])) ?? '', ...changed, ...submodules];
}

/** Git would look into submodules with their own filters: each is looked at by itself instead. */
const STATUS = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty'];

/** Of those that are checked out. */
async function describeSubmodules(directory: string, index: string, looking: Looking): Promise<readonly string[]> {
  const names = index.split('\0').flatMap((entry) => /^160000 \S+ \d\t(.+)$/s.exec(entry)?.[1] ?? []);
  const found: string[] = [];
  for (const name of looking.levels > 0 ? names : []) {
    const place = path.join(directory, name);
    if (look(path.join(place, '.git')) === null) continue;
    found.push(name, ...((await describeRepository(place, { ...looking, levels: looking.levels - 1 })) ?? []));
  }
  return found;
}

/** Settings that take the programs out of these filters: a file is compared as it is. By environment, which takes any name. */
function withoutFilters(keys: readonly string[]): Record<string, string> {
  const drivers = new Set(keys.map((key) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1]).filter((name) => name !== undefined));
  const settings = [...drivers].flatMap((name) => [
    [`filter.${name}.clean`, ''],
    [`filter.${name}.process`, ''],
    [`filter.${name}.required`, 'false'],
  ]);
  const pairs = settings.flatMap(([key = '', value = ''], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...(Object.fromEntries(pairs) as Record<string, string>) };
}

async function describeAll(root: string, folder: string): Promise<string> {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true });
  const lines: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = path.join(folder, entry.name);
    if (name === DATA_FOLDER) continue;
    lines.push(entry.isDirectory() ? await describeAll(root, name) : `${name} ${await describe(path.join(root, name))}`);
  }
  return lines.join('\n');
}

async function describe(file: string): Promise<string> {
  const stats = await lstat(file).catch(() => null);
  return stats === null ? 'gone' : `${stats.size} ${stats.mtimeMs} ${stats.mode}`;
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
