import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { createReadOnlyGit, type ReadOnlyGit } from '../git/read-only-git.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { DATA_FOLDER, look } from './containment.ts';
import { hasMade, marksOf } from './made-commits.ts';

const TIMEOUT_MS = 60_000;
/** Submodules in submodules. */
const MOST_LEVELS = 5;

/**
 * What is in a workspace, as one text to compare a later look with: in a git repository its commits and branches and the
 * changed files, elsewhere every file. What an agent says of itself in our folder does not count.
 */
export async function lookAtWork(workspace: string, signal: AbortSignal, user: ProgramUser | null = null): Promise<string> {
  const found = await describeRepository(workspace, { signal, user, levels: MOST_LEVELS, label: '' });
  return found === null ? filesText(workspace, []) : workText(REPOSITORY, found);
}

/** Whether something was done since that look. */
export async function hasWorkSince(
  before: string,
  workspace: string,
  signal: AbortSignal,
  user: ProgramUser | null = null,
): Promise<boolean> {
  const found = await describeRepository(workspace, { signal, user, levels: MOST_LEVELS, label: '' });
  const isRepository = found !== null && before.startsWith(`${REPOSITORY}\n`);
  const after = isRepository ? workText(REPOSITORY, found) : await filesText(workspace, found?.marks ?? []);
  const told = compareWork(before, after);
  if (told !== 'other marks') return told === 'work';
  for (const { git, label } of found?.repositories ?? []) if (await hasMade(git, marksIn(before, label))) return true;
  return false;
}

/**
 * What two looks tell: other files are work. Other marks may be, which the repository itself must be asked for. Those that
 * are gone are no work, and neither is a repository that is.
 */
export function compareWork(before: string, after: string): 'nothing' | 'work' | 'other marks' {
  const [was, is] = [readWork(before), readWork(after)];
  const isGone = was.kind === REPOSITORY && (is.kind !== REPOSITORY || (was.marks.size > 0 && is.marks.size === 0));
  if (isGone) return 'nothing';
  if (was.state !== is.state) return 'work';
  return [...is.marks].some((mark) => !was.marks.has(mark)) ? 'other marks' : 'nothing';
}

/** The marks of one repository: the whole one's have no label. */
export function marksIn(text: string, label = ''): ReadonlySet<string> {
  const marks = [...readWork(text).marks].map((line) => /^(\S+(?: refs\/\S+)?)(.*)$/s.exec(line));
  return new Set(marks.flatMap((found) => (found?.[2] === label ? [found[1] ?? ''] : [])));
}

const REPOSITORY = 'repository';

/** Lines: what it is, its marks, and last all the rest as one hash. */
function readWork(text: string): { readonly kind: string; readonly marks: ReadonlySet<string>; readonly state: string } {
  const [kind = '', ...lines] = text.trimEnd().split('\n');
  return { kind, marks: new Set(lines.slice(0, -1)), state: lines.at(-1) ?? '' };
}

function workText(kind: string, { marks, changed }: Pick<Described, 'marks' | 'changed'>): string {
  return [kind, ...marks, hashOf(changed)].join('\n');
}

async function filesText(workspace: string, marks: readonly string[]): Promise<string> {
  return workText('files', { marks, changed: [await describeAll(workspace, '')] });
}

interface Looking {
  readonly signal: AbortSignal;
  readonly user: ProgramUser | null;
  readonly levels: number;
  /** Behind the marks of a submodule. */
  readonly label: string;
}

interface Described {
  /** What its commits can be found by. */
  readonly marks: readonly string[];
  /** The files that differ from the last commit. */
  readonly changed: readonly string[];
  /** Itself and its submodules. */
  readonly repositories: readonly { readonly git: ReadOnlyGit; readonly label: string }[];
}

/** Null where there is no repository of its own: one that the workspaces are in is none of theirs. */
async function describeRepository(directory: string, looking: Looking): Promise<Described | null> {
  if (look(path.join(directory, '.git')) === null) return null;
  const { signal, user, label } = looking;
  const git = createReadOnlyGit(directory, user, TIMEOUT_MS, signal);
  const filters = await git(['config', '--name-only', '--null', '--get-regexp', String.raw`^filter\.`]);
  const status = await git(STATUS, { env: withoutFilters(filters?.split('\0') ?? []) });
  if (status === null) return null;
  const names = status.split('\0').map((entry) => entry.slice(3));
  const changed: string[] = [];
  for (const name of names.filter((each) => each !== '' && !each.startsWith(`${DATA_FOLDER}/`)))
    changed.push(`${name}\n${await describe(path.join(directory, name))}`);
  const submodules = await describeSubmodules(directory, (await git(['ls-files', '--stage', '-z'])) ?? '', looking);
  return {
    marks: [...(await marksOf(git)).map((mark) => `${mark}${label}`), ...submodules.marks],
    changed: [...changed, ...submodules.changed],
    repositories: [{ git, label }, ...submodules.repositories],
  };
}

/** Git would look into submodules with their own filters: each is looked at by itself instead. */
const STATUS = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty'];

/** Of those that are checked out. */
async function describeSubmodules(directory: string, index: string, looking: Looking): Promise<Described> {
  const names = index.split('\0').flatMap((entry) => /^160000 \S+ \d\t(.+)$/s.exec(entry)?.[1] ?? []);
  const found: Described[] = [];
  for (const name of looking.levels > 0 ? names : []) {
    const label = ` ${JSON.stringify(name)}${looking.label}`;
    const inner = await describeRepository(path.join(directory, name), { ...looking, levels: looking.levels - 1, label });
    found.push({ marks: [], repositories: [], ...inner, changed: [name, ...(inner?.changed ?? [])] });
  }
  return {
    marks: found.flatMap(({ marks }) => marks),
    changed: found.flatMap(({ changed }) => changed),
    repositories: found.flatMap(({ repositories }) => repositories),
  };
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

/** What git keeps for itself is no file of the work. */
async function describeAll(root: string, folder: string): Promise<string> {
  const place = path.join(root, folder);
  const entries = await readdir(place, { withFileTypes: true }).catch((error: unknown) => {
    // One that is closed, or too deep for the system, is told by itself; a workspace must be there.
    if (folder !== '') return null;
    throw error;
  });
  if (entries === null) return `${folder} ${await describe(place)}`;
  const lines: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = path.join(folder, entry.name);
    if (name === DATA_FOLDER || entry.name === '.git') continue;
    lines.push(entry.isDirectory() ? await describeAll(root, name) : `${name} ${await describe(path.join(root, name))}`);
  }
  return lines.join('\n');
}

/** In bytes: what is larger is told by its size and time, since reading it twice in every run would cost too much. */
const LONGEST_READ = 4 * 1024 * 1024;
/** A link is not followed, and a pipe that is put in its place meanwhile does not hold us. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** By its content: the time alone changes when nothing did. */
async function describe(file: string): Promise<string> {
  const stats = await lstat(file).catch(() => null);
  if (stats === null) return 'gone';
  const content = await contentOf(file, stats).catch(() => null);
  return `${stats.size} ${stats.mode} ${content ?? stats.mtimeMs}`;
}

/** Null for what is not read. */
async function contentOf(file: string, stats: Stats): Promise<string | null> {
  if (stats.isSymbolicLink()) return hashOf([await readlink(file)]);
  if (!stats.isFile() || stats.size > LONGEST_READ) return null;
  return createHash('sha256')
    .update(await readFile(file, { flag: READING }))
    .digest('hex');
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
