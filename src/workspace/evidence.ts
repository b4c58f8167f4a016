import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { runGit } from '../git/command.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { DATA_FOLDER } from './containment.ts';

const TIMEOUT_MS = 60_000;
/** A repository's own configuration may name programs to run: an agent can write it. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-optional-locks'];

/**
 * What the work in a workspace amounts to, as one text that differs when something was done: in a git repository its
 * commits, branches and changed files, elsewhere every file. What an agent says of itself in our folder does not count.
 */
export async function fingerprintOf(workspace: string, signal: AbortSignal, user: ProgramUser | null = null): Promise<string> {
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '', GIT_TERMINAL_PROMPT: '0' };
  const git = async (...args: string[]): Promise<string | null> => {
    const { code, stdout } = await runGit({ args: [...SAFE, ...args], cwd: workspace, env, user, timeoutMs: TIMEOUT_MS }, signal);
    return code === 0 ? stdout : null;
  };
  const filters = await git('config', '--name-only', '--null', '--get-regexp', String.raw`^filter\.`).catch(() => null);
  Object.assign(env, withoutFilters(filters?.split('\0') ?? []));
  signal.throwIfAborted();
  const status = await git('status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all').catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof Error) return null;
    throw error;
  });
  if (status === null) return hashOf([await describeAll(workspace, '')]);
  const entries = status.split('\0').filter((entry) => entry !== '' && !entry.slice(3).startsWith(`${DATA_FOLDER}/`));
  const changed = await Promise.all(
    entries.map(async (entry) => `${entry}\n${await describe(path.join(workspace, entry.slice(3)))}`),
  );
  return hashOf([(await git('rev-parse', 'HEAD')) ?? '', (await git('for-each-ref')) ?? '', ...changed]);
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
