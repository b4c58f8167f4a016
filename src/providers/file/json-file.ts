import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { IssueSource, SourceReading } from './records.ts';
import type { TimedEdit } from './edit.ts';
import { notFound, payloadError } from './failures.ts';
import type { FileAccess } from './failures.ts';
import { editJsonRecord } from './json-edit.ts';
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
    async read(signal) {
      const bytes = await readFile(file, { signal });
      if (last?.bytes.equals(bytes) !== true) last = { bytes, reading: readingOf(file, bytes.toString('utf8')) };
      return last.reading;
    },
    change: (id, edit) => rewriteFile(file, (text) => editText(file, text, id, edit), mayWrite),
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

function editText(file: string, text: string, id: string, edit: TimedEdit): string | null {
  const { list, mark, body } = parseForEdit(file, text);
  const index = list.findIndex((record) => nonEmptyText((record as Record<string, unknown> | null)?.['id']) === id);
  if (index === -1) throw notFound('WRITE', file, id);
  const changed = editJsonRecord(body, index, edit);
  return changed === null ? null : mark + changed;
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
