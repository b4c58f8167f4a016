import path from 'node:path';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { FoundRecord, IssueForm, SourceEdit, SourceReading } from './records.ts';
import { notFound, payloadError } from './failures.ts';
import type { FileAccess } from './failures.ts';
import { closeFile, contentOf, openFile, statsOf } from './file-access.ts';
import { editList, jsonListOf, placeOfRecord } from './json-list.ts';
import type { JsonList } from './json-list.ts';
import { findFault, placeOf, skipBlanks } from './json-text.ts';
import { nonEmptyText } from './schema.ts';
import { settledStampOf, stampOf } from './stamp.ts';
import type { FileVersion } from './stamp.ts';
import { rewriteFile, UnreadableTextError } from './write-back.ts';

const BYTE_ORDER_MARK = '\uFEFF';

interface KnownList {
  readonly version: FileVersion;
  readonly parsed: ParsedList;
}

/** Issues as the records of one JSON list. */
export function createJsonFile(file: string, mayWrite?: ProviderDeps['mayWrite']): IssueForm {
  // Most reads find what the last one found, or what we wrote ourselves: that is neither read nor parsed again.
  let known: KnownList | null = null;

  return {
    async read(stats) {
      const before = known;
      if (before !== null && before.version.stamp === stampOf(stats)) return before.parsed.reading;
      const version = await readVersion(file, before?.version ?? null);
      const isSame = before !== null && version.bytes === before.version.bytes;
      const parsed = isSame ? before.parsed : parseList('READ', file, version.bytes);
      // Unless a write of our own came first.
      if (known === before) known = { version, parsed };
      return parsed.reading;
    },
    find: () => Promise.resolve(null),
    async change(edits) {
      const before = known;
      let edited: Edited | null = null;
      await rewriteFile(file, {
        known: before?.version ?? null,
        mayWrite,
        edit(bytes) {
          const parsed = before !== null && bytes === before.version.bytes ? before.parsed : parseForEdit(file, bytes);
          edited = applyEdits(file, parsed, edits);
          return edited.isChanged ? edited.parsed.list.bytes : null;
        },
        replaced(version) {
          if (edited !== null) known = { version, parsed: edited.parsed };
        },
      });
      return (edited as Edited | null)?.faults ?? [];
    },
  };
}

/** The file as it is now; the very bytes that were known while they are the same. */
async function readVersion(file: string, known: FileVersion | null): Promise<FileVersion> {
  const descriptor = openFile(file);
  try {
    const stats = statsOf(descriptor);
    // A write of our own may have come since it was looked at.
    if (known !== null && known.stamp === stampOf(stats)) return known;
    const bytes = await contentOf(descriptor);
    return { bytes: known?.bytes.equals(bytes) === true ? known.bytes : bytes, stamp: settledStampOf(stats), isOwn: false };
  } finally {
    closeFile(descriptor);
  }
}

interface ParsedList {
  readonly list: JsonList;
  readonly reading: SourceReading;
  /** Where the record with this id is. Of two with one id the first one counts. */
  indexOf(id: string): number | undefined;
  /** The list that the places of all these records are told of: the last one that came of the same parsing. */
  readonly latest: { list: JsonList };
}

function parseList(method: FileAccess, file: string, bytes: Buffer): ParsedList {
  const list = jsonListOf(bytes, parseValues(method, file, bytes.toString('utf8')));
  const latest = { list };
  const records = list.values.map((value, index) => foundRecord(value, index, latest));
  let indexes: ReadonlyMap<string, number> | null = null;
  const indexOf = (id: string): number | undefined => (indexes ??= indexesById(list.values)).get(id);
  return { list, reading: { records, unreadable: [] }, indexOf, latest };
}

/** Positions are looked for when the first bad record asks for one. */
function foundRecord(value: unknown, index: number, latest: ParsedList['latest']): FoundRecord {
  const label = `record ${index + 1}`;
  return { value, label, place: () => `${label} (${placeOfRecord(latest.list, index)})` };
}

function indexesById(values: readonly unknown[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (const [index, record] of values.entries()) {
    const id = nonEmptyText((record as Record<string, unknown> | null)?.['id']);
    if (id !== null && !indexes.has(id)) indexes.set(id, index);
  }
  return indexes;
}

interface Edited {
  readonly parsed: ParsedList;
  readonly isChanged: boolean;
  readonly faults: readonly (Error | null)[];
}

/** Each edit by itself: one that cannot be made keeps no other from being made. */
function applyEdits(file: string, parsed: ParsedList, edits: readonly SourceEdit[]): Edited {
  const editing = editList(parsed.list);
  const faults = edits.map(({ id, edit }) => {
    const index = parsed.indexOf(id);
    if (index === undefined) return notFound('WRITE', file, id);
    try {
      editing.change(index, edit);
      return null;
    } catch (error) {
      return error as Error;
    }
  });
  const result = editing.result();
  if (result === null) return { parsed, isChanged: false, faults };
  return { parsed: withChanges(parsed, result.list, result.changed), isChanged: true, faults };
}

/** Records that were not changed stay the same objects. No edit changes an id. */
function withChanges(parsed: ParsedList, list: JsonList, changed: readonly number[]): ParsedList {
  const records = parsed.reading.records.slice();
  parsed.latest.list = list;
  for (const index of changed) records[index] = foundRecord(list.values[index], index, parsed.latest);
  return { ...parsed, list, reading: { records, unreadable: [] } };
}

function parseForEdit(file: string, bytes: Buffer): ParsedList {
  try {
    return parseList('WRITE', file, bytes);
  } catch (error) {
    throw new UnreadableTextError(error);
  }
}

function parseValues(method: FileAccess, file: string, text: string): readonly unknown[] {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const body = text.slice(mark.length);
  const fail = (offset: number, why: string): never => {
    throw payloadError(method, file, `${path.basename(file)}, ${placeOf(text, offset + mark.length)}: ${why}`);
  };
  const list = parse(body, fail);
  return Array.isArray(list) ? (list as readonly unknown[]) : fail(skipBlanks(body, 0), 'the file must be a list of issues');
}

function parse(body: string, fail: (offset: number, why: string) => never): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    const fault = findFault(body);
    return fail(fault?.offset ?? 0, fault?.message ?? 'this is not JSON');
  }
}
