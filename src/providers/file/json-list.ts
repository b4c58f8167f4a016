import { joined } from './content.ts';
import type { Content } from './content.ts';
import { editRecord } from './json-edit.ts';
import { EditRefusedError } from './edit.ts';
import type { TimedEdit } from './edit.ts';
import { elementsOf, placeOf, skipBlanks } from './json-text.ts';
import { asRead, bytesOf, wholeTextOf } from './whole-text.ts';

/** A JSON list as its file holds it. */
export interface JsonList {
  readonly content: Content;
  /** Its records in groups, looked for when the first one is asked for: a change copies those of its group alone. */
  groups(): readonly Group[];
}

/** Neighbours with what stands before and between them, the last ones also with what ends the list. */
interface Group {
  readonly bytes: Buffer;
  /** Where each record begins and ends, counted in bytes, so that all others can be copied as they are. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Records of a group. */
const GROUP = 256;

export function jsonListOf(content: Content): JsonList {
  let found: readonly Group[] | null = null;
  return { content, groups: () => (found ??= groupsIn(joined(content))) };
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Everything that parts a JSON text is one byte, whatever stands between: each byte is read as a character of its own. */
function groupsIn(bytes: Buffer): readonly Group[] {
  const text = bytes.toString('latin1');
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const spans = elementsOf(text, skipBlanks(text, marked ? BYTE_ORDER_MARK.length : 0));
  return Array.from({ length: Math.ceil(spans.length / GROUP) }, (_, place) => {
    const [first, next] = [place * GROUP, (place + 1) * GROUP];
    const records = spans.slice(first, next);
    const from = spans[first - 1]?.end ?? 0;
    const until = next < spans.length ? records.at(-1)?.end : bytes.length;
    return {
      bytes: bytes.subarray(from, until),
      starts: Int32Array.from(records, ({ start }) => start - from),
      ends: Int32Array.from(records, ({ end }) => end - from),
    };
  });
}

/** Line and column of a record, as people count. */
export function placeOfRecord(list: JsonList, index: number): string {
  const group = groupOf(index);
  const earlier = list.groups().slice(0, group);
  const start = list.groups()[group]?.starts[index % GROUP] ?? 0;
  const beginning = list.groups()[group]?.bytes.subarray(0, start) ?? Buffer.alloc(0);
  const before = Buffer.concat([...earlier.map(({ bytes }) => bytes), beginning]).toString('utf8');
  return placeOf(before, before.length);
}

function groupOf(index: number): number {
  return Math.floor(index / GROUP);
}

/** Edits of records of one list. */
export interface ListEditing {
  /** Changes one record; throws what stands in the way of that, and has changed nothing then. */
  change(index: number, edit: TimedEdit): void;
  /** The list with its changes and the new values of the records, or null when there are none. */
  result(): { readonly list: JsonList; readonly changed: ReadonlyMap<number, unknown> } | null;
}

/** Changes records of a list and leaves every other byte as it is. */
export function editList(list: JsonList): ListEditing {
  const changed = new Map<number, string>();
  return {
    change(index, edit) {
      const before = changed.get(index) ?? textOfRecord(list, index);
      const after = editRecord(before, edit);
      if (after !== before) changed.set(index, after);
    },
    result() {
      if (changed.size === 0) return null;
      const values = [...changed].map(([index, text]): [number, unknown] => [index, JSON.parse(asRead(text))]);
      return { list: withRecords(list, changed), changed: new Map(values) };
    },
  };
}

function textOfRecord(list: JsonList, index: number): string {
  const group = list.groups()[groupOf(index)];
  const [start, end] = [group?.starts[index % GROUP], group?.ends[index % GROUP]];
  if (group === undefined || start === undefined || end === undefined) throw new EditRefusedError('the record is gone');
  return wholeTextOf(group.bytes.subarray(start, end));
}

function withRecords(list: JsonList, changed: ReadonlyMap<number, string>): JsonList {
  const groups = list.groups().slice();
  const texts = new Map<number, Map<number, string>>();
  for (const [index, text] of changed) {
    const place = groupOf(index);
    texts.set(place, (texts.get(place) ?? new Map<number, string>()).set(index % GROUP, text));
  }
  for (const [place, some] of texts) groups[place] = withTexts(groups[place]!, some);
  return { content: groups.map(({ bytes }) => bytes), groups: () => groups };
}

function withTexts({ bytes, starts, ends }: Group, texts: ReadonlyMap<number, string>): Group {
  const next = { starts: starts.slice(), ends: ends.slice() };
  const parts: Buffer[] = [];
  let [copied, moved] = [0, 0];
  for (let index = 0; index < starts.length; index += 1) {
    const text = texts.get(index);
    next.starts[index]! += moved;
    if (text !== undefined) {
      const [record, start, end] = [bytesOf(text), starts[index]!, ends[index]!];
      parts.push(bytes.subarray(copied, start), record);
      moved += record.length - (end - start);
      copied = end;
    }
    next.ends[index]! += moved;
  }
  return { bytes: Buffer.concat([...parts, bytes.subarray(copied)]), ...next };
}
