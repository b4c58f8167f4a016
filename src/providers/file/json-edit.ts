import { sameState } from '../../domain/model/issue.ts';
import { EditRefusedError, listOrRefuse, sameLabel } from './edit.ts';
import type { TimedEdit } from './edit.ts';
import { elementsOf, membersOf, skipBlanks } from './json-text.ts';
import type { Member, Span } from './json-text.ts';

/**
 * Changes the text of one record and leaves every other character as it is. The text has been parsed before: it is an
 * object. Throws what stands in the way of the change.
 */
export function editRecord(record: string, edit: TimedEdit): string {
  const after = applyEdit(record, edit);
  return after === record ? record : touch(after, edit.at);
}

function applyEdit(record: string, edit: TimedEdit): string {
  if (edit.type === 'comment') return append(record, 'comments', edit.comment);
  const current = JSON.parse(record) as Record<string, unknown>;
  if (edit.type === 'state')
    return sameState(String(current['state']), edit.state) ? record : setValue(record, 'state', edit.state);
  const labels = listOrRefuse(current['labels'], 'labels');
  const index = labels.findIndex((label) => sameLabel(label, edit.label));
  if (edit.type === 'add_label') return index === -1 ? append(record, 'labels', edit.label) : record;
  return index === -1 ? record : applyEdit(removeEntry(record, 'labels', index), edit);
}

/** Sets `updated_at` where the record has one. */
function touch(record: string, at: string): string {
  return memberOf(record, 'updated_at') === undefined ? record : setValue(record, 'updated_at', at);
}

/** The one that counts when a key is there twice is the last, as for JSON.parse. */
function memberOf(record: string, key: string): Member | undefined {
  return membersOf(record, 0).findLast((member) => member.key === key);
}

function setValue(record: string, key: string, value: unknown): string {
  const member = memberOf(record, key);
  if (member !== undefined) return replace(record, member.value, render(value, record));
  return insertMember(record, key, render(value, record));
}

function append(record: string, key: string, entry: unknown): string {
  const member = memberOf(record, key);
  if (member === undefined) return insertMember(record, key, render([entry], record));
  const list: unknown = JSON.parse(record.slice(member.value.start, member.value.end));
  if (listOrRefuse(list, key).length === 0) return replace(record, member.value, render([entry], record));
  const entries = elementsOf(record, member.value.start);
  const [first, last] = [entries[0] ?? member.value, entries.at(-1) ?? member.value];
  const gap = record.slice(member.value.start + 1, first.start);
  return insert(record, last.end, `,${gap || blankOf(record)}${renderAt(entry, gap, record)}`);
}

function removeEntry(record: string, key: string, index: number): string {
  const member = memberOf(record, key);
  if (member === undefined) return record;
  const entries = elementsOf(record, member.value.start);
  const [previous, entry, next] = [entries[index - 1], entries[index], entries[index + 1]];
  if (entry === undefined) return record;
  if (next !== undefined) return replace(record, { start: entry.start, end: next.start }, '');
  if (previous !== undefined) return replace(record, { start: previous.end, end: entry.end }, '');
  return replace(record, member.value, '[]');
}

/** Adds a member behind the last one, spaced like the others. */
function insertMember(record: string, key: string, rendered: string): string {
  const members = membersOf(record, 0);
  const [first, last] = [members[0], members.at(-1)];
  if (first === undefined || last === undefined) throw new EditRefusedError('the record is empty');
  const colon = record.slice(first.keyEnd, first.value.start);
  return insert(record, last.value.end, `,${gapOf(record) || blankOf(record)}${JSON.stringify(key)}${colon}${rendered}`);
}

/** What stands before the record's first key: a blank, or a line break and its indentation. */
function gapOf(record: string): string {
  return record.slice(1, skipBlanks(record, 1));
}

/** A record without any blank is written by a program and stays so; others get one behind the comma. */
function blankOf(record: string): string {
  return /^\{"[^"]*":\S/.test(record) ? '' : ' ';
}

/** A value at the depth of the record's members. */
function render(value: unknown, record: string): string {
  return renderAt(value, gapOf(record), record);
}

/** Over several lines when its neighbours stand on lines of their own. Short lists stay on one. */
function renderAt(value: unknown, gap: string, record: string): string {
  const flat = typeof value !== 'object' || (Array.isArray(value) && value.every((entry) => typeof entry !== 'object'));
  if (flat || !gap.includes('\n')) return JSON.stringify(value);
  const lineBreak = gap.includes('\r\n') ? '\r\n' : '\n';
  const indentation = gap.slice(gap.lastIndexOf('\n') + 1);
  return JSON.stringify(value, null, unitOf(record)).replaceAll('\n', lineBreak + indentation);
}

/** One step of indentation: how much deeper the record's members are than its closing brace. */
function unitOf(record: string): string {
  const deep = gapOf(record).split('\n').at(-1) ?? '';
  const shallow = /\n([ \t]*)\}$/.exec(record)?.[1] ?? '';
  return deep.slice(shallow.length) || '  ';
}

function insert(text: string, at: number, added: string): string {
  return replace(text, { start: at, end: at }, added);
}

function replace(text: string, span: Span, replacement: string): string {
  return text.slice(0, span.start) + replacement + text.slice(span.end);
}
