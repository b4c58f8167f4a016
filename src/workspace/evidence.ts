import { createHash, type Hash } from 'node:crypto';
import { constants, type Dirent, type Stats } from 'node:fs';
import { lstat, opendir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { createReadOnlyGit, type ReadOnlyGit } from '../git/read-only-git.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { DATA_FOLDER, look } from './containment.ts';
import { hasMade, marksOf } from './made-commits.ts';

const TIMEOUT_MS = 60_000;
/** Submodules in submodules. */
const MOST_LEVELS = 5;

/** What one look takes in: an agent may leave more behind than anybody could read. */
const MOST: Most = { entries: 1_000_000, inFolder: 100_000, bytes: 512 * 1024 * 1024 };

interface Most {
  readonly entries: number;
  /** They are put in order at one go. */
  readonly inFolder: number;
  /** Of content: what is beyond is told by its size and time. */
  readonly bytes: number;
}

export interface Look {
  readonly signal: AbortSignal;
  /** Whom git runs as; null for the daemon's own user. */
  readonly user: ProgramUser | null;
  /** Tests have less. */
  readonly most?: Most;
}

/**
 * What is in a workspace, as one text to compare a later look with: in a git repository its commits and branches and the
 * changed files, elsewhere every file. What an agent says of itself in our folder does not count.
 */
export async function lookAtWork(workspace: string, look: Look): Promise<string> {
  const seen = nothingSeen(look);
  const found = await describeRepository(workspace, { ...look, seen, levels: MOST_LEVELS, label: '' });
  if (found === null) await describeAll(workspace, '', { ...look, seen });
  return workText(found === null ? 'files' : REPOSITORY, found?.marks ?? [], seen);
}

/** Whether something was done since that look. Where there is more than can be looked at, which is told, that counts as done. */
export async function hasWorkSince(before: string, workspace: string, look: Look, onTooMuch: () => void): Promise<boolean> {
  let seen = nothingSeen(look);
  const found = await describeRepository(workspace, { ...look, seen, levels: MOST_LEVELS, label: '' });
  const isRepository = found !== null && before.startsWith(`${REPOSITORY}\n`);
  if (!isRepository) await describeAll(workspace, '', { ...look, seen: (seen = nothingSeen(look)) });
  if (seen.isTooMuch) {
    onTooMuch();
    return true;
  }
  const told = compareWork(before, workText(isRepository ? REPOSITORY : 'files', found?.marks ?? [], seen));
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

function workText(kind: string, marks: readonly string[], { hash }: Seen): string {
  return [kind, ...marks, hash.digest('hex')].join('\n');
}

/** How far a look has come. */
interface Seen {
  /** Of all that was seen but the marks. */
  readonly hash: Hash;
  readonly most: Most;
  entries: number;
  bytes: number;
  isTooMuch: boolean;
}

function nothingSeen({ most = MOST }: Look): Seen {
  return { hash: createHash('sha256'), most, entries: 0, bytes: 0, isTooMuch: false };
}

interface Reading {
  readonly signal: AbortSignal;
  readonly seen: Seen;
}

interface Looking extends Look, Reading {
  readonly levels: number;
  /** Behind the marks of a submodule. */
  readonly label: string;
}

interface Described {
  /** What its commits can be found by. */
  readonly marks: readonly string[];
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
  // The files that differ from the last commit; one more than we look at is enough to know.
  const names = status.split('\0', looking.seen.most.entries + 1).map((entry) => entry.slice(3));
  for (const name of names.filter((each) => each !== '' && !each.startsWith(`${DATA_FOLDER}/`)))
    await note(directory, name, looking);
  const submodules = await describeSubmodules(directory, (await git(['ls-files', '--stage', '-z'])) ?? '', looking);
  return {
    marks: [...(await marksOf(git)).map((mark) => `${mark}${label}`), ...submodules.marks],
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
    looking.seen.hash.update(`${JSON.stringify(name)}\n`);
    const inner = await describeRepository(path.join(directory, name), { ...looking, levels: looking.levels - 1, label });
    if (inner !== null) found.push(inner);
  }
  return {
    marks: found.flatMap(({ marks }) => marks),
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
async function describeAll(root: string, folder: string, reading: Reading): Promise<void> {
  if (!takesOneMore(reading)) return;
  const entries = await entriesIn(path.join(root, folder), reading.seen).catch((error: unknown) => {
    // One that is closed, or too deep for the system, is told by itself; a workspace must be there.
    if (folder !== '') return null;
    throw error;
  });
  if (entries === null) return note(root, folder, reading);
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = path.join(folder, entry.name);
    if (name === DATA_FOLDER || entry.name === '.git') continue;
    await (entry.isDirectory() ? describeAll(root, name, reading) : note(root, name, reading));
  }
}

/** No more of them than we look at, and one. */
async function entriesIn(place: string, seen: Seen): Promise<readonly Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(place, { bufferSize: 1_000 })) {
    entries.push(entry);
    seen.isTooMuch ||= entries.length > seen.most.inFolder;
    if (seen.isTooMuch) break;
  }
  return entries;
}

/** Counts an entry, and says whether it is still looked at. */
function takesOneMore({ signal, seen }: Reading): boolean {
  signal.throwIfAborted();
  seen.entries += 1;
  seen.isTooMuch ||= seen.entries > seen.most.entries;
  return !seen.isTooMuch;
}

/** Takes one entry into what was seen. */
async function note(root: string, name: string, reading: Reading): Promise<void> {
  if (!takesOneMore(reading)) return;
  const { seen } = reading;
  seen.hash.update(`${JSON.stringify(name)} ${await describe(path.join(root, name), seen)}\n`);
}

/** In bytes: what is larger, or beyond all that is read, is told by its size and time: reading it twice in every run would cost too much. */
const LONGEST_READ = 4 * 1024 * 1024;
/** A link is not followed, and a pipe that is put in its place meanwhile does not hold us. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** By its content: the time alone changes when nothing did. */
async function describe(file: string, seen: Seen): Promise<string> {
  const stats = await lstat(file).catch(() => null);
  if (stats === null) return 'gone';
  const content = await contentOf(file, stats, seen).catch(() => null);
  return `${stats.size} ${stats.mode} ${content ?? stats.mtimeMs}`;
}

/** Null for what is not read. */
async function contentOf(file: string, stats: Stats, seen: Seen): Promise<string | null> {
  if (stats.isSymbolicLink()) return hashOf(await readlink(file));
  if (!stats.isFile() || stats.size > LONGEST_READ || seen.bytes + stats.size > seen.most.bytes) return null;
  seen.bytes += stats.size;
  return hashOf(await readFile(file, { flag: READING }));
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
