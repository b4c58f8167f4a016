import path from 'node:path';
import type { TrackerError } from '../../domain/model/errors.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { joined } from './content.ts';
import { EditRefusedError } from './edit.ts';
import type { TimedEdit } from './edit.ts';
import { notFound, payloadError, unreadable } from './failures.ts';
import { BY_NAME, createLook, syncDirectory } from './file-access.ts';
import { MarkdownFault, parseMarkdown } from './front-matter.ts';
import type { MarkdownFile } from './front-matter.ts';
import { withLock } from './lock.ts';
import { editMarkdown, textOf } from './markdown-edit.ts';
import { idOf, isProblem, isRecord, namesById, readFiles, readIssue, recordOf } from './markdown-files.ts';
import type { IssueFile } from './markdown-files.ts';
import type { IssueForm, SourceEdit, SourceReading } from './records.ts';
import { share } from './shared-read.ts';
import { asRead, bytesOf, wholeTextOf } from './whole-text.ts';
import { rewriteFile, UnreadableTextError } from './write-back.ts';

/** Files that are synced at the same time reach the disk together. */
const WRITERS = 16;
/** So many are written under one lock, which nobody may hold for long. */
const MOST_AT_ONCE = 64;

/** Issues as Markdown files of one directory, in the order of their names. */
export function createMarkdownDirectory(directory: string, mayWrite?: ProviderDeps['mayWrite']): IssueForm {
  const found = createFoundFiles(directory);
  // Replacements that end at the same time reach the disk together.
  const syncHere = share(() => syncDirectory(directory));
  const sync = (place: string): Promise<void> => (place === directory ? syncHere() : syncDirectory(place));

  async function write({ id, edit }: SourceEdit): Promise<void> {
    const name = found.nameOf(id);
    if (name === undefined) throw notFound('WRITE', directory, id);
    const file = path.join(directory, name);
    let edited: MarkdownFile | null = null;
    await rewriteFile(file, {
      known: found.versionOf(name),
      lockedIn: directory,
      mayWrite,
      sync,
      edit(content) {
        const before = parseForEdit(file, wholeTextOf(joined(content)), id);
        const after = editOrRefuse(file, before, edit);
        edited = after ?? before;
        return after && [bytesOf(textOf(after))];
      },
      replaced(version) {
        if (edited) found.remember({ name, version, result: recordOf(name, readableOf(edited)) });
      },
    });
  }

  /** Where it was the last time; when it is no longer there, wherever it is now. */
  async function writeWhereItIs(edit: SourceEdit): Promise<void> {
    try {
      await write(edit);
    } catch (error) {
      if (!isGone(error)) throw error;
      const [fault] = (await found.read()).unreadable;
      // The file that cannot be read may be the issue.
      if (fault !== undefined && found.nameOf(edit.id) === undefined) throw unreadable('WRITE', directory, fault.text());
      await write(edit);
    }
  }

  const lock = path.join(directory, '.foray-lock');
  return { read: found.read, find: found.find, change: (edits) => makeLocked(lock, edits, writeWhereItIs) };
}

/** The files of the directory as the last look, or a write of our own, left them. */
interface FoundFiles extends Pick<IssueForm, 'find'> {
  read(): Promise<SourceReading>;
  /** The name of an issue's file. */
  nameOf(id: string): string | undefined;
  versionOf(name: string): IssueFile['version'] | null;
  remember(file: IssueFile): void;
}

function createFoundFiles(directory: string): FoundFiles {
  const look = createLook(BY_NAME);
  let files = new Map<string, IssueFile>();
  let last: readonly IssueFile[] = [];
  let reading: SourceReading = { records: [], unreadable: [] };
  let names: ReadonlyMap<string, string> = new Map();
  return {
    async read() {
      const found = await readFiles(directory, files, look);
      const unchanged = found.length === last.length && found.every(({ result }, place) => last[place]?.result === result);
      files = new Map(found.map((file) => [file.name, file]));
      last = found;
      if (unchanged) return reading;
      const results = found.map((file) => file.result);
      reading = { records: results.filter(isRecord), unreadable: results.filter(isProblem) };
      names = namesById(reading.records);
      return reading;
    },
    async find(id) {
      const before = files.get(names.get(id) ?? '');
      const now = before && (await readIssue(path.join(directory, before.name), before, look));
      // Unless a write of our own came first.
      if (now && files.get(now.name) === before) files.set(now.name, now);
      return now && isRecord(now.result) && idOf(now.result.value) === id ? now.result : null;
    },
    nameOf: (id) => names.get(id),
    versionOf: (name) => files.get(name)?.version ?? null,
    remember: (file) => void files.set(file.name, file),
  };
}

type WriteEdit = (edit: SourceEdit) => Promise<void>;

/** A lock that cannot be had is the fault of those that needed it. */
async function makeLocked(lock: string, edits: readonly SourceEdit[], write: WriteEdit): Promise<readonly (Error | null)[]> {
  const faults: (Error | null)[] = [];
  for (let start = 0; start < edits.length; start += MOST_AT_ONCE) {
    const some = edits.slice(start, start + MOST_AT_ONCE);
    const made = withLock(lock, () => makeEach(some, write));
    faults.push(...(await made.catch((error: unknown) => some.map(() => error as Error))));
  }
  return faults;
}

/** Each file waits for the disk by itself: several at once, and the edits of one in their order. */
async function makeEach(edits: readonly SourceEdit[], write: WriteEdit): Promise<readonly (Error | null)[]> {
  const faults: (Error | null)[] = edits.map(() => null);
  const waiting = placesById(edits).values();
  const writer = async (): Promise<void> => {
    for (const places of waiting)
      for (const [place, edit] of places) await write(edit).catch((error: unknown) => (faults[place] = error as Error));
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return faults;
}

/** The edits of each record, with their places in the list. */
function placesById(edits: readonly SourceEdit[]): ReadonlyMap<string, readonly (readonly [number, SourceEdit])[]> {
  const places = new Map<string, [number, SourceEdit][]>();
  for (const [place, edit] of edits.entries()) places.set(edit.id, [...(places.get(edit.id) ?? []), [place, edit]]);
  return places;
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' || (error as Partial<TrackerError>).kind === 'tracker_not_found';
}

function parseForEdit(file: string, text: string, id: string): MarkdownFile {
  try {
    const parsed = parseMarkdown(text);
    if (idOf(readableOf(parsed).data) !== id) throw notFound('WRITE', file, id);
    return parsed;
  } catch (error) {
    if (!(error instanceof MarkdownFault)) throw error;
    throw new UnreadableTextError(unreadable('WRITE', file, `${path.basename(file)}, ${error.place}: ${error.message}`));
  }
}

/** Names the file: a folder may hold thousands. */
function editOrRefuse(file: string, before: MarkdownFile, edit: TimedEdit): MarkdownFile | null {
  try {
    return editMarkdown(before, edit);
  } catch (error) {
    throw error instanceof EditRefusedError ? payloadError('WRITE', file, error.message) : error;
  }
}

/** What the next look at it finds. */
function readableOf(edited: MarkdownFile): MarkdownFile {
  const text = textOf(edited);
  return text.isWellFormed() ? edited : parseMarkdown(asRead(text));
}
