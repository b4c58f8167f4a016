import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { IssueSource, SourceEdit, SourceReading } from './records.ts';
import { notFound, payloadError } from './failures.ts';
import type { FileAccess } from './failures.ts';
import { editJsonList } from './json-edit.ts';
import { elementsOf, findFault, skipBlanks } from './json-text.ts';
import type { Span } from './json-text.ts';
import { placeOf } from './json-text.ts';
import { nonEmptyText } from './schema.ts';
import { rewriteFile, UnreadableTextError } from './write-back.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** Issues as the records of one JSON list. */
export function createJsonFile(file: string, mayWrite?: ProviderDeps['mayWrite']): IssueSource {
  // Parsing is the costly part of a read, and most reads find what the last one found.
  let last: { readonly bytes: Buffer; readonly reading: SourceReading } | null = null;

  return {
    async read() {
      const bytes = await readFile(file);
      if (last?.bytes.equals(bytes) !== true) last = { bytes, reading: readingOf(file, bytes.toString('utf8')) };
      return last.reading;
    },
    find: () => Promise.resolve(null),
    async change(edits) {
      let faults: readonly (Error | null)[] = [];
      const edit = (text: string): string | null => {
        const edited = editText(file, text, edits);
        ({ faults } = edited);
        return edited.text;
      };
      await rewriteFile(file, edit, mayWrite);
      return faults;
    },
  };
}

function readingOf(file: string, text: string): SourceReading {
  const { list, mark, body } = parseList('READ', file, text);
  // Positions are looked for when the first bad record asks for one, and then once.
  let spans: Span[] | null = null;
  const placeOfRecord = (index: number): string => {
    spans ??= elementsOf(body, skipBlanks(body, 0));
    return placeOf(text, (spans[index]?.start ?? 0) + mark.length);
  };
  const records = list.map((value, index) => {
    const label = `record ${index + 1}`;
    return { value, label, place: () => `${label} (${placeOfRecord(index)})` };
  });
  return { records, unreadable: [] };
}

/** Each edit by itself: one that cannot be made keeps no other from being made. */
function editText(file: string, text: string, edits: readonly SourceEdit[]): Edited {
  const { list, mark, body } = parseForEdit(file, text);
  const indexes = indexesById(list);
  const editing = editJsonList(body);
  const faults = edits.map(({ id, edit }) => {
    const index = indexes.get(id);
    if (index === undefined) return notFound('WRITE', file, id);
    try {
      editing.change(index, edit);
      return null;
    } catch (error) {
      return error as Error;
    }
  });
  const changed = editing.text();
  return { text: changed === null ? null : mark + changed, faults };
}

interface Edited {
  /** Null when nothing is to be changed. */
  readonly text: string | null;
  readonly faults: readonly (Error | null)[];
}

/** Of two records with one id the first one counts. */
function indexesById(list: readonly unknown[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (const [index, record] of list.entries()) {
    const id = nonEmptyText((record as Record<string, unknown> | null)?.['id']);
    if (id !== null && !indexes.has(id)) indexes.set(id, index);
  }
  return indexes;
}

function parseForEdit(file: string, text: string): ParsedList {
  try {
    return parseList('WRITE', file, text);
  } catch (error) {
    throw new UnreadableTextError(error);
  }
}

interface ParsedList {
  readonly list: readonly unknown[];
  /** The byte order mark, where the text has one, and what follows it. */
  readonly mark: string;
  readonly body: string;
}

function parseList(method: FileAccess, file: string, text: string): ParsedList {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const body = text.slice(mark.length);
  const fail = (offset: number, why: string): never => {
    throw payloadError(method, file, `${path.basename(file)}, ${placeOf(text, offset + mark.length)}: ${why}`);
  };
  const list = parse(body, fail);
  return Array.isArray(list) ? { list, mark, body } : fail(skipBlanks(body, 0), 'the file must be a list of issues');
}

function parse(body: string, fail: (offset: number, why: string) => never): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    const fault = findFault(body);
    return fail(fault?.offset ?? 0, fault?.message ?? 'this is not JSON');
  }
}
