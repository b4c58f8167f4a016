import { editRecord } from './json-edit.ts';
import { EditRefusedError } from './edit.ts';
import type { TimedEdit } from './edit.ts';
import { elementsOf, placeOf, skipBlanks } from './json-text.ts';

/** A JSON list as its file holds it. Places are offsets of bytes, so that a change copies all others as they are. */
export interface JsonList {
  readonly bytes: Buffer;
  readonly values: readonly unknown[];
  /** Where each record begins and ends, looked for when the first one is asked for. */
  places(): Places;
}

interface Places {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** A list of these bytes, which were parsed to these values. */
export function jsonListOf(bytes: Buffer, values: readonly unknown[]): JsonList {
  let found: Places | null = null;
  return { bytes, values, places: () => (found ??= placesIn(bytes)) };
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Everything that parts a JSON text is one byte, whatever stands between: each byte is read as a character of its own. */
function placesIn(bytes: Buffer): Places {
  const text = bytes.toString('latin1');
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const spans = elementsOf(text, skipBlanks(text, marked ? BYTE_ORDER_MARK.length : 0));
  return { starts: Int32Array.from(spans, ({ start }) => start), ends: Int32Array.from(spans, ({ end }) => end) };
}

/** Line and column of a record, as people count. */
export function placeOfRecord({ bytes, places }: JsonList, index: number): string {
  const before = bytes.toString('utf8', 0, places().starts[index] ?? 0);
  return placeOf(before, before.length);
}

/** Edits of records of one list. */
export interface ListEditing {
  /** Changes one record; throws what stands in the way of that, and has changed nothing then. */
  change(index: number, edit: TimedEdit): void;
  /** The list with its changes, or null when there are none. */
  result(): { readonly list: JsonList; readonly changed: readonly number[] } | null;
}

/** Changes records of a list and leaves every other byte as it is. */
export function editList(list: JsonList): ListEditing {
  const { starts, ends } = list.places();
  const changed = new Map<number, string>();
  return {
    change(index, edit) {
      const [start, end] = [starts[index], ends[index]];
      if (start === undefined || end === undefined) throw new EditRefusedError('the record is gone');
      const before = changed.get(index) ?? list.bytes.toString('utf8', start, end);
      const after = editRecord(before, edit);
      if (after !== before) changed.set(index, after);
    },
    result() {
      if (changed.size === 0) return null;
      const indexes = [...changed.keys()].sort((a, b) => a - b);
      return { list: withRecords(list, indexes, changed), changed: indexes };
    },
  };
}

/** The cost is that of copying the bytes: nothing is parsed but the records that changed. */
function withRecords(list: JsonList, indexes: readonly number[], changed: ReadonlyMap<number, string>): JsonList {
  const { starts, ends } = list.places();
  const values = list.values.slice();
  const parts: Buffer[] = [];
  const next: Places = { starts: starts.slice(), ends: ends.slice() };
  let [copied, moved, from] = [0, 0, 0];
  for (const index of indexes) {
    const record = Buffer.from(changed.get(index) ?? '', 'utf8');
    const [start, end] = [starts[index] ?? 0, ends[index] ?? 0];
    parts.push(list.bytes.subarray(copied, start), record);
    move(next, from, index, moved);
    next.starts[index] = start + moved;
    moved += record.length - (end - start);
    next.ends[index] = end + moved;
    values[index] = JSON.parse(record.toString('utf8')) as unknown;
    [copied, from] = [end, index + 1];
  }
  parts.push(list.bytes.subarray(copied));
  move(next, from, starts.length, moved);
  return { bytes: Buffer.concat(parts), values, places: () => next };
}

function move({ starts, ends }: Places, from: number, until: number, by: number): void {
  if (by === 0) return;
  for (let index = from; index < until; index += 1) {
    starts[index]! += by;
    ends[index]! += by;
  }
}
