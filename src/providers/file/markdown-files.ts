import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSame } from './content.ts';
import { systemDetail } from './failures.ts';
import { closeFile, contentOf, openFile } from './file-access.ts';
import type { Look } from './file-access.ts';
import { hasFrontMatter, MarkdownFault, parseMarkdown } from './front-matter.ts';
import type { MarkdownFile } from './front-matter.ts';
import type { FoundRecord, SourceProblem } from './records.ts';
import { nonEmptyText } from './schema.ts';
import { settledStampOf, stampOf } from './stamp.ts';
import type { FileVersion } from './stamp.ts';

/** A handful: the disk is kept busy and the pool of threads stays free for others. */
const READERS = 4;
/** One file of the directory, as it was read. */
export interface IssueFile {
  readonly name: string;
  /** Null where it could not be opened. */
  readonly version: FileVersion | null;
  readonly result: FoundRecord | SourceProblem;
}

/** Only a file that somebody else touched is read again, and only one whose content changed is parsed again. */
export async function readFiles(
  directory: string,
  known: ReadonlyMap<string, IssueFile>,
  look: Look<BigIntStats>,
): Promise<IssueFile[]> {
  const names = (await readdir(directory)).filter((name) => /^[^.].*\.(md|markdown)$/i.test(name)).sort();
  const found: (IssueFile | null)[] = [];
  const waiting = names.entries();
  const reader = async (): Promise<void> => {
    for (const [index, name] of waiting) found[index] = await readIssue(path.join(directory, name), known.get(name), look);
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  const files = found.filter((file) => file !== null);
  // Where nobody may look into the directory, it is not the files that are at fault.
  if (files.some(({ version }) => version === null)) await access(directory, constants.X_OK);
  return files;
}

/** Null for a file that went away meanwhile, or never was one. */
export async function readIssue(file: string, before: IssueFile | undefined, look: Look<BigIntStats>): Promise<IssueFile | null> {
  try {
    const stats = await look(file);
    if (before?.version?.stamp === stampOf(stats)) return before;
    const bytes = await readNow(file);
    const version = { content: [bytes], stamp: settledStampOf(stats), isOwn: false };
    if (before?.version && isSame(before.version.content, bytes)) return { ...before, version };
    const name = path.basename(file);
    const result = parseFile(name, bytes.toString('utf8'));
    // Parsing YAML takes its time: one file at a go.
    await nextTurn();
    return { name, version, result };
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    if (NO_FILE.has(fault.code)) return null;
    if (!FAULT_OF_ONE.has(fault.code)) throw error;
    return unopened(path.basename(file), fault, before);
  }
}

/** It is gone, a directory, or a socket. */
const NO_FILE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'EISDIR', 'ENOTDIR', 'ENXIO']);

/** What may be wrong with one file while the others are well. */
const FAULT_OF_ONE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'ELOOP', 'EIO']);

/** The same as before where nothing changed. */
function unopened(name: string, fault: NodeJS.ErrnoException, before: IssueFile | undefined): IssueFile {
  const text = `${name}: ${systemDetail(fault)}`;
  if (before?.version === null && isProblem(before.result) && before.result.key === text) return before;
  return { name, version: null, result: { key: text, text: () => text } };
}

/** Its drive has just answered. */
async function readNow(file: string): Promise<Buffer> {
  const descriptor = openFile(file);
  try {
    return await contentOf(descriptor);
  } finally {
    closeFile(descriptor);
  }
}

function parseFile(name: string, text: string): FoundRecord | SourceProblem {
  // A note beside the issues. An empty file may be one that is just being written.
  if (!hasFrontMatter(text) && text.trim() !== '') return { value: null, label: name, place: () => `${name} (no front matter)` };
  try {
    return recordOf(name, parseMarkdown(text));
  } catch (error) {
    if (!(error instanceof MarkdownFault)) throw error;
    const fault = `${name}, ${error.place}: ${error.message}`;
    return { key: fault, text: () => fault };
  }
}

export function recordOf(name: string, { data, body }: MarkdownFile): FoundRecord {
  return { value: { ...data, description: body || data['description'] }, label: name, place: () => name };
}

export function isRecord(result: FoundRecord | SourceProblem): result is FoundRecord {
  return 'value' in result;
}

export function isProblem(result: FoundRecord | SourceProblem): result is SourceProblem {
  return 'key' in result;
}

export function idOf(value: unknown): string | null {
  return nonEmptyText((value as Record<string, unknown> | null)?.['id']);
}

/** Of two files with one id the first one counts. */
export function namesById(records: readonly FoundRecord[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { value, label } of records) {
    const id = idOf(value);
    if (id !== null && !names.has(id)) names.set(id, label);
  }
  return names;
}
