import type { BigIntStats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TrackerError } from '../../domain/model/errors.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { FoundRecord, IssueSource, SourceEdit, SourceProblem, SourceReading } from './records.ts';
import { notFound, payloadError } from './failures.ts';
import { hasFrontMatter, MarkdownFault, parseMarkdown } from './front-matter.ts';
import { editMarkdown } from './markdown-edit.ts';
import { nonEmptyText } from './schema.ts';
import { rewriteFile, UnreadableTextError } from './write-back.ts';
import type { TimedEdit } from './edit.ts';

/** A handful: the disk is kept busy and the pool of threads stays free for others. */
const READERS = 4;

/** As coarse as the times of any file system are: a file that was touched this recently may change again without a trace. */
const COARSEST_MS = 3_000;

interface IssueFile {
  readonly name: string;
  /** What would be another one had the file been touched since; null while nobody can tell. */
  readonly stamp: string | null;
  readonly bytes: Buffer;
  readonly result: FoundRecord | SourceProblem;
}

/** Issues as Markdown files of one directory, in the order of their names. */
export function createMarkdownDirectory(directory: string, mayWrite?: ProviderDeps['mayWrite']): IssueSource {
  // Only a file that was touched is read again, and only one whose content changed is parsed again.
  let files: ReadonlyMap<string, IssueFile> = new Map();
  let reading: SourceReading = { records: [], unreadable: [] };
  let names: ReadonlyMap<string, string> = new Map();

  async function read(): Promise<SourceReading> {
    const found = await readFiles(directory, files);
    const unchanged = found.length === files.size && found.every(({ name, result }) => files.get(name)?.result === result);
    files = new Map(found.map((file) => [file.name, file]));
    if (unchanged) return reading;
    const results = found.map((file) => file.result);
    reading = { records: results.filter(isRecord), unreadable: results.filter(isProblem) };
    names = namesById(reading.records);
    return reading;
  }

  async function write({ id, edit }: SourceEdit): Promise<void> {
    const name = names.get(id);
    if (name === undefined) throw notFound('WRITE', directory, id);
    const file = path.join(directory, name);
    await rewriteFile(file, (text) => editText(file, text, id, edit), mayWrite);
  }

  /** Where it was the last time; when it is no longer there, wherever it is now. */
  async function writeWhereItIs(edit: SourceEdit): Promise<void> {
    try {
      await write(edit);
    } catch (error) {
      if (!isGone(error)) throw error;
      await read();
      await write(edit);
    }
  }

  return {
    read,
    async find(id) {
      const before = files.get(names.get(id) ?? '');
      const now = before && (await readIssue(path.join(directory, before.name), before));
      return now && isRecord(now.result) && idOf(now.result.value) === id ? now.result : null;
    },
    async change(edits) {
      const faults: (Error | null)[] = edits.map(() => null);
      // Each file waits for the disk by itself: several at once, and the edits of one in their order.
      const waiting = placesById(edits).values();
      const writer = async (): Promise<void> => {
        for (const places of waiting)
          for (const [place, edit] of places)
            await writeWhereItIs(edit).catch((error: unknown) => (faults[place] = error as Error));
      };
      await Promise.all(Array.from({ length: READERS }, writer));
      return faults;
    },
  };
}

/** The edits of each record, with their places in the list. */
function placesById(edits: readonly SourceEdit[]): ReadonlyMap<string, readonly (readonly [number, SourceEdit])[]> {
  const places = new Map<string, [number, SourceEdit][]>();
  for (const [place, edit] of edits.entries()) places.set(edit.id, [...(places.get(edit.id) ?? []), [place, edit]]);
  return places;
}

/** Of two files with one id the first one counts. */
function namesById(records: readonly FoundRecord[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { value, label } of records) {
    const id = idOf(value);
    if (id !== null && !names.has(id)) names.set(id, label);
  }
  return names;
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' || (error as Partial<TrackerError>).kind === 'tracker_not_found';
}

function isRecord(result: FoundRecord | SourceProblem): result is FoundRecord {
  return 'value' in result;
}

function isProblem(result: FoundRecord | SourceProblem): result is SourceProblem {
  return 'key' in result;
}

function idOf(value: unknown): string | null {
  return nonEmptyText((value as Record<string, unknown> | null)?.['id']);
}

async function readFiles(directory: string, known: ReadonlyMap<string, IssueFile>): Promise<IssueFile[]> {
  const names = (await readdir(directory)).filter((name) => /^[^.].*\.(md|markdown)$/i.test(name)).sort();
  const found: (IssueFile | null)[] = [];
  const waiting = names.entries();
  const reader = async (): Promise<void> => {
    for (const [index, name] of waiting) found[index] = await readIssue(path.join(directory, name), known.get(name));
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return found.filter((file) => file !== null);
}

/** Null for a file that went away meanwhile, or never was one. */
async function readIssue(file: string, before: IssueFile | undefined): Promise<IssueFile | null> {
  try {
    const stamp = stampOf(await stat(file, { bigint: true }));
    if (before !== undefined && stamp !== null && stamp === before.stamp) return before;
    const bytes = await readFile(file);
    if (before?.bytes.equals(bytes) === true) return { ...before, stamp };
    const name = path.basename(file);
    const result = parseFile(name, bytes.toString('utf8'));
    // Parsing YAML takes its time: one file at a go.
    await nextTurn();
    return { name, stamp, bytes, result };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return null;
    throw error;
  }
}

/** File times are the system's own, so they are compared with its clock; one that is ahead of it says nothing. */
function stampOf({ dev, ino, size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): string | null {
  return Date.now() - Number(ctimeMs) > COARSEST_MS ? [dev, ino, size, mtimeNs, ctimeNs].join(' ') : null;
}

function parseFile(name: string, text: string): FoundRecord | SourceProblem {
  // A note beside the issues. An empty file may be one that is just being written.
  if (!hasFrontMatter(text) && text.trim() !== '') return { value: null, label: name, place: () => `${name} (no front matter)` };
  try {
    const { data, body } = parseMarkdown(text);
    return { value: { ...data, description: body || data['description'] }, label: name, place: () => name };
  } catch (error) {
    if (!(error instanceof MarkdownFault)) throw error;
    const fault = `${name}, ${error.place}: ${error.message}`;
    return { key: fault, text: () => fault };
  }
}

function editText(file: string, text: string, id: string, edit: TimedEdit): string | null {
  try {
    const parsed = parseMarkdown(text);
    if (idOf(parsed.data) !== id) throw notFound('WRITE', file, id);
    return editMarkdown(parsed, edit);
  } catch (error) {
    if (!(error instanceof MarkdownFault)) throw error;
    throw new UnreadableTextError(payloadError('WRITE', file, `${path.basename(file)}, ${error.place}: ${error.message}`));
  }
}
