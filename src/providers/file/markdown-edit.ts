import { isDeepStrictEqual } from 'node:util';
import { isAlias, isMap, isScalar, isSeq, stringify, visit } from 'yaml';
import type { Alias, Node, Pair, Range, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { sameState } from '../../domain/model/issue.ts';
import { EditRefusedError, listOrRefuse, sameLabel } from './edit.ts';
import type { TimedEdit } from './edit.ts';
import { MarkdownFault, parseMarkdown, Verbatim } from './front-matter.ts';
import type { MarkdownFile } from './front-matter.ts';
import { isPlain, type PlainValue } from './plain-matter.ts';

/**
 * Changes the front matter of one issue file and leaves every other character as it is; where that cannot be done, as with
 * a list that is an alias, the front matter is written anew. Null: nothing to change.
 */
export function editMarkdown(before: MarkdownFile, edit: TimedEdit): MarkdownFile | null {
  const ways = [() => editInPlace(before, before, edit), () => editInPlace(before, withoutAnchor(before, KEYS[edit.type]), edit)];
  for (const way of ways) {
    try {
      return way();
    } catch (error) {
      if (!(error instanceof EditRefusedError) && !(error instanceof MarkdownFault)) throw error;
    }
  }
  return writeAnew(before, edit);
}

function editInPlace(before: MarkdownFile, start: MarkdownFile, edit: TimedEdit): MarkdownFile | null {
  const changed = applyEdit(start, edit);
  if (changed === null) return null;
  const after = withTime(changed, edit.at);
  requireOnlyChange(before, after, edit);
  return after;
}

/** Lets the first of those that refer to a value hold it, so that it can change without them. */
function withoutAnchor(file: MarkdownFile, key: string): MarkdownFile {
  const { matter } = file;
  const node = nodeOf(file.map(), key);
  const [start, end] = rangeOf(node);
  const anchor = isScalar(node) || isSeq(node) ? `&${node.anchor}` : '';
  const alias = aliasesIn(file.map()).find(({ source }) => `&${source}` === anchor);
  const at = matter.lastIndexOf(anchor, start);
  if (alias === undefined || matter.slice(at + anchor.length, start).trim() !== '')
    throw new EditRefusedError(`nothing refers to ${key}`);
  const [from, to] = rangeOf(alias);
  const value = matter.slice(start, end);
  return parseMarkdown(join(file, `${matter.slice(0, at)}${matter.slice(start, from)}${anchor} ${value}${matter.slice(to)}`));
}

function aliasesIn(map: YAMLMap): readonly Alias[] {
  const found: Alias[] = [];
  visit(map, { Alias: (_, alias) => void found.push(alias) });
  return found;
}

function writeAnew(before: MarkdownFile, edit: TimedEdit): MarkdownFile {
  try {
    const after = parseMarkdown(join(before, renderAnew(before, editedValue(before.data, edit), edit)));
    requireOnlyChange(before, after, edit);
    return after;
  } catch (error) {
    // It could be read before the change.
    throw error instanceof MarkdownFault ? unsafe(edit) : error;
  }
}

function editedValue(data: MarkdownFile['data'], edit: TimedEdit): unknown {
  if (edit.type === 'state') return edit.state;
  const list = listOrRefuse(data[KEYS[edit.type]], KEYS[edit.type]);
  if (edit.type === 'comment') return [...list, { ...edit.comment }];
  if (edit.type === 'add_label') return [...list, edit.label];
  return list.filter((label) => !sameLabel(label, edit.label));
}

/** In the order and with the remarks it has. What others refer to is written out at each place: it may differ now. */
function renderAnew({ head, copy, data }: MarkdownFile, value: unknown, { type, at }: TimedEdit): string {
  const document = copy();
  visit(document, { Alias: (_, alias) => alias.resolve(document)?.clone() as Node });
  visit(document, { Value: (_, node) => void delete node.anchor });
  document.set(KEYS[type], value);
  if ('updated_at' in data) document.set('updated_at', at);
  visit(document, { Scalar: (_, node) => keepText(node) });
  return document.toString({ lineWidth: 0 }).replaceAll('\n', head.endsWith('\r\n') ? '\r\n' : '\n');
}

/** A number or a truth is read as its text, which would be put in quotes. */
function keepText(node: Scalar): void {
  const { type, value, source, tag } = node;
  if (type === 'PLAIN' && tag === undefined && value === source && !source?.includes('\n'))
    node.value = new Verbatim(source ?? '');
}

export function textOf(file: MarkdownFile): string {
  return join(file, file.matter);
}

/** Null: it is as it shall be already. */
function applyEdit(file: MarkdownFile, edit: TimedEdit): MarkdownFile | null {
  const { data } = file;
  if (edit.type === 'state')
    return sameState(String(data['state']), edit.state) ? null : parseMarkdown(setValue(file, 'state', edit.state));
  if (edit.type === 'comment') return parseMarkdown(append(file, 'comments', edit.comment));
  const labels = listOrRefuse(data['labels'], 'labels');
  const index = labels.findIndex((label) => sameLabel(label, edit.label));
  if (edit.type === 'add_label') return index === -1 ? parseMarkdown(append(file, 'labels', edit.label)) : null;
  if (index === -1) return null;
  const fewer = parseMarkdown(removeEntry(file, 'labels', index));
  return applyEdit(fewer, edit) ?? fewer;
}

/** Sets `updated_at` where the file has one. */
function withTime(file: MarkdownFile, at: string): MarkdownFile {
  return 'updated_at' in file.data ? parseMarkdown(setValue(file, 'updated_at', at)) : file;
}

/** YAML can be written in so many ways that a change is read back before it counts. */
function requireOnlyChange(old: MarkdownFile, now: MarkdownFile, edit: TimedEdit): void {
  const key = KEYS[edit.type];
  const others = (file: MarkdownFile): unknown => ({ ...file.data, [key]: null, updated_at: null });
  const same = isDeepStrictEqual(others(old), others(now)) && old.body === now.body;
  if (!same || !isApplied(now.data[key], editedValue(old.data, edit))) throw unsafe(edit);
}

function unsafe({ type }: TimedEdit): EditRefusedError {
  return new EditRefusedError(`${KEYS[type]} is written in a way that cannot be changed safely`);
}

const KEYS = { state: 'state', comment: 'comments', add_label: 'labels', remove_label: 'labels' } as const;

function isApplied(value: unknown, wanted: unknown): boolean {
  return isDeepStrictEqual(Array.isArray(wanted) ? (value ?? []) : value, wanted);
}

function setValue(file: MarkdownFile, key: string, value: string): string {
  const { start, end, quoted } = file.plain?.get(key) ?? placeOfValue(nodeOf(file.map(), key));
  const inBraces = file.plain === null && file.map().flow === true;
  const rendered = quoted || /[^ -~]/.test(value) ? JSON.stringify(value) : inBraces ? renderFlow(value) : withoutQuotes(value);
  const old = file.matter.slice(start, end);
  // A block has its remark in its first line, and the end of its last line belongs to it.
  const [, remark = ''] = /^[|>][-+\d]*([ \t]+#.*)/.exec(old) ?? [];
  const [lineEnd = ''] = /\r?\n$/.exec(old) ?? [];
  return putIn(file, [start, end], rendered + remark + lineEnd);
}

/** In the place of a value. One that was empty may stand close to its key or to a remark. */
function putIn(file: MarkdownFile, [start, end]: readonly [number, number], text: string): string {
  const [before, after] = [file.matter.slice(0, start), file.matter.slice(end)];
  return join(file, `${before}${before.endsWith(':') ? ' ' : ''}${text}${after.startsWith('#') ? ' ' : ''}${after}`);
}

function placeOfValue(node: Node): Pick<PlainValue, 'start' | 'end' | 'quoted'> {
  const [start, end] = rangeOf(node);
  return { start, end, quoted: isScalar(node) && node.type?.startsWith('QUOTE_') === true };
}

/** With quotes only where YAML needs them. */
function withoutQuotes(value: string): string {
  return isPlain(value) ? value : stringify(value, { lineWidth: 0 }).trimEnd();
}

function append(file: MarkdownFile, key: string, entry: unknown): string {
  const map = file.map();
  const node = map.has(key) ? nodeOf(map, key) : null;
  const lineBreak = file.head.endsWith('\r\n') ? '\r\n' : '\n';
  const block = (indentation: string): string => renderBlock(entry, indentation, lineBreak);
  if (node === null && map.flow === true) return appendInBraces(file, `${key}: [${renderFlow(entry)}]`);
  if (node === null) return join(file, `${file.matter}${key}:${lineBreak}${block('  ')}`);
  if (isSeq(node) && node.flow === true && node.items.length > 0) {
    const [, end] = rangeOf(node.items.at(-1) as Node);
    return join(file, `${file.matter.slice(0, end)}, ${renderFlow(entry)}${file.matter.slice(end)}`);
  }
  if (isAlias(node)) throw new EditRefusedError(`${key} stands elsewhere`);
  const [start, end] = rangeOf(node);
  if (isSeq(node) && node.flow !== true) {
    const indentation = file.matter.slice(file.matter.lastIndexOf('\n', start) + 1, start);
    return join(file, file.matter.slice(0, end) + block(indentation) + file.matter.slice(end));
  }
  // Empty so far: `labels:`, `labels: null` or `labels: []`.
  return putIn(file, [start, end], `[${renderFlow(entry)}]`);
}

function appendInBraces(file: MarkdownFile, pair: string): string {
  const last = file.map().items.at(-1) as Pair<Node, Node | null> | undefined;
  if (last === undefined) throw new EditRefusedError('the front matter is empty');
  const [, end] = rangeOf(last.value ?? last.key);
  return join(file, `${file.matter.slice(0, end)}, ${pair}${file.matter.slice(end)}`);
}

function renderBlock(entry: unknown, indentation: string, lineBreak: string): string {
  const lines = stringify([entry], { lineWidth: 0 }).trimEnd().split('\n');
  return lines.map((line) => (line === '' ? lineBreak : `${indentation}${line}${lineBreak}`)).join('');
}

/** JSON is YAML too; a plain word looks better without its quotes. */
function renderFlow(entry: unknown): string {
  const plain = typeof entry === 'string' && /^[A-Za-z](?:[\w -]*[\w-])?$/.test(entry) && stringify(entry).trimEnd() === entry;
  return plain ? entry : JSON.stringify(entry);
}

function removeEntry(file: MarkdownFile, key: string, index: number): string {
  const node = nodeOf(file.map(), key) as YAMLSeq;
  const ranges = node.items.map((item) => rangeOf(item as Node));
  const [previous, entry, next] = [ranges[index - 1], ranges[index], ranges[index + 1]];
  if (entry === undefined) return join(file, file.matter);
  const cut = (from: number, to: number): string => join(file, file.matter.slice(0, from) + file.matter.slice(to));
  if (node.flow !== true) return cut(file.matter.lastIndexOf('\n', entry[0]) + 1, entry[2]);
  if (next !== undefined) return cut(entry[0], next[0]);
  return previous === undefined ? cut(entry[0], entry[1]) : cut(previous[1], entry[1]);
}

function nodeOf(map: YAMLMap, key: string): Node {
  const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key) as Pair<unknown, Node> | undefined;
  if (pair?.value == null || !isMap(map)) throw new EditRefusedError(`${key} cannot be found in its front matter`);
  return pair.value;
}

function rangeOf(node: Node): Range {
  if (node.range == null) throw new EditRefusedError('the front matter tells no positions');
  return node.range;
}

function join(file: MarkdownFile, matter: string): string {
  return file.head + matter + file.rest;
}
