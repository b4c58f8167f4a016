import path from 'node:path';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { FoundRecord, IssueForm, SourceEdit, SourceReading } from './records.ts';
import { notFound, payloadError, unreadable } from './failures.ts';
import type { FileAccess } from './failures.ts';
import { isSame, joined } from './content.ts';
import type { Content } from './content.ts';
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
      const isKnown = before !== null && version.content === before.version.content;
      const parsed = isKnown ? before.parsed : parseList('READ', file, version.content);
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
        edit(content) {
          const parsed = before !== null && content === before.version.content ? before.parsed : parseForEdit(file, content);
          edited = applyEdits(file, parsed, edits);
          return edited.isChanged ? edited.parsed.list.content : null;
        },
        replaced(version) {
          if (edited !== null) known = { version, parsed: edited.parsed };
        },
      });
      return (edited as Edited | null)?.faults ?? [];
    },
  };
}

/** The file as it is now; with the very content that was known while it is the same. */
async function readVersion(file: string, known: FileVersion | null): Promise<FileVersion> {
  const descriptor = openFile(file);
  try {
    const stats = statsOf(descriptor);
    // A write of our own may have come since it was looked at.
    if (known !== null && known.stamp === stampOf(stats)) return known;
    const bytes = await contentOf(descriptor);
    const content = known !== null && isSame(known.content, bytes) ? known.content : [bytes];
    return { content, stamp: settledStampOf(stats), isOwn: false };
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

function parseList(method: FileAccess, file: string, content: Content): ParsedList {
  const values = parseValues(method, file, joined(content).toString('utf8'));
  const list = jsonListOf(content);
  const latest = { list };
  const records = values.map((value, index) => foundRecord(value, index, latest));
  let indexes: ReadonlyMap<string, number> | null = null;
  const indexOf = (id: string): number | undefined => (indexes ??= indexesById(records)).get(id);
  return { list, reading: { records, unreadable: [] }, indexOf, latest };
}

/** Positions are looked for when the first bad record asks for one. */
function foundRecord(value: unknown, index: number, latest: ParsedList['latest']): FoundRecord {
  const label = `record ${index + 1}`;
  return { value, label, place: () => `${label} (${placeOfRecord(latest.list, index)})` };
}

function indexesById(records: readonly FoundRecord[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (const [index, { value }] of records.entries()) {
    const id = nonEmptyText((value as Record<string, unknown> | null)?.['id']);
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
function withChanges(parsed: ParsedList, list: JsonList, changed: ReadonlyMap<number, unknown>): ParsedList {
  const records = parsed.reading.records.slice();
  parsed.latest.list = list;
  for (const [index, value] of changed) records[index] = foundRecord(value, index, parsed.latest);
  return { ...parsed, list, reading: { records, unreadable: [] } };
}

function parseForEdit(file: string, content: Content): ParsedList {
  try {
    return parseList('WRITE', file, content);
  } catch (error) {
    throw new UnreadableTextError(error);
  }
}

function parseValues(method: FileAccess, file: string, text: string): readonly unknown[] {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const body = text.slice(mark.length);
  const told = (offset: number, why: string): string => `${path.basename(file)}, ${placeOf(text, offset + mark.length)}: ${why}`;
  const list = parse(body, (offset, why) => unreadable(method, file, told(offset, why)));
  if (Array.isArray(list)) return list as readonly unknown[];
  throw payloadError(method, file, told(skipBlanks(body, 0), 'the file must be a list of issues'));
}

function parse(body: string, fail: (offset: number, why: string) => Error): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    const fault = findFault(body);
    throw fail(fault?.offset ?? 0, fault?.message ?? 'this is not JSON');
  }
}
