import { isDeepStrictEqual } from 'node:util';
import { EditRefusedError, type RecordEdit } from '../../src/providers/file/edit.ts';
import { MarkdownFault, parseMarkdown, type MarkdownFile } from '../../src/providers/file/front-matter.ts';
import { createBoard } from '../../src/providers/file/issue-board.ts';
import { joined } from '../../src/providers/file/content.ts';
import { editList, jsonListOf } from '../../src/providers/file/json-list.ts';
import { findFault } from '../../src/providers/file/json-text.ts';
import { toComments, toIssue } from '../../src/providers/file/map.ts';
import { nonEmptyText } from '../../src/providers/file/schema.ts';
import { editMarkdown, textOf } from '../../src/providers/file/markdown-edit.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { oneOrAll, type Target } from './target.ts';

const AT = '2026-02-02T00:00:00.000Z';
const EDITS: readonly RecordEdit[] = [
  { type: 'state', state: 'In Review' },
  { type: 'state', state: 'déjà: vu' },
  { type: 'add_label', label: 'urgent' },
  { type: 'remove_label', label: 'bug' },
  { type: 'comment', comment: { id: 'c2', author: 'foray', body: 'a\n- "b": c', created_at: AT } },
];

const PLAIN =
  '---\nid: "7"\nidentifier: A-7\ntitle: Fix it\nstate: todo\nupdated_at: "2026-01-01T00:00:00Z"\n---\nDo the work.\n';
const RICH =
  "---\nid: 007\nidentifier: A-7\ntitle: 'It''s #1: a test' # said\nstate: todo\nlabels: [bug, \"ui\"]\nblocked_by:\n  - id: &first 3\n  - *first\ncomments:\n  - author: ann\n    body: |\n      one\n\n      two\npriority: 2\n---\n\nText\n---\nmore\n";

const markdown: Target = {
  name: 'issue in Markdown',
  make: (chance) => mutateText(chance.pick([PLAIN, PLAIN, RICH]), chance),
  take(input, thorough) {
    const file = parsedOrNull(input);
    if (file === null) return;
    // What was read without a parser of YAML is what that finds.
    if (file.plain !== null && !isDeepStrictEqual(file.data, file.map().toJSON())) throw new Error('read as something else');
    takeRecords([{ ...file.data, description: file.body }]);
    for (const edit of oneOrAll(EDITS, input, thorough)) changeMarkdown(file, edit);
  },
};

function parsedOrNull(text: string): MarkdownFile | null {
  try {
    return parseMarkdown(text);
  } catch (error) {
    if (error instanceof MarkdownFault) return null;
    throw error;
  }
}

function changeMarkdown(before: MarkdownFile, edit: RecordEdit): void {
  const after = editedOrNull(() => editMarkdown(before, { ...edit, at: AT }));
  if (after === null) return;
  const read = parseMarkdown(textOf(after));
  if (!isDeepStrictEqual(read.data, after.data) || read.body !== before.body) throw new Error('written as something else');
}

function editedOrNull<T>(edit: () => T): T | null {
  try {
    return edit();
  } catch (error) {
    if (error instanceof EditRefusedError) return null;
    throw error;
  }
}

const ISSUE = {
  id: '7',
  identifier: 'A-7',
  title: 'Fix it',
  state: 'todo',
  labels: ['bug', 'ui'],
  priority: 2,
  parent: { id: '3' },
  blocked_by: [{ id: '3', state: 'done' }, 'A-4'],
  comments: [{ id: 'c1', author: 'ann', body: 'Please.', created_at: '2026-01-01T00:00:00Z' }],
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};
const LIST = [
  ISSUE,
  { ...ISSUE, id: '8', identifier: 'A-8', parent: 'A-7' },
  { id: 9, identifier: 'A-9', title: 'T', state: 'done' },
];

const json: Target = {
  name: 'list of issues in JSON',
  make(chance) {
    const space = chance.pick([0, 2, '\t']);
    if (chance.happens(0.5)) return JSON.stringify(mutateJson(LIST, chance), null, space);
    return mutateText(JSON.stringify(LIST, null, space), chance);
  },
  take(input, thorough) {
    const values = valueOf(input);
    if ((findFault(input) === null) !== (values !== undefined))
      throw new Error('a fault where there is none, or none where there is one');
    if (!Array.isArray(values)) return;
    takeRecords(values);
    for (const edit of oneOrAll(EDITS, input, thorough)) changeList(input, values, edit);
  },
};

/** Undefined for what is no JSON. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Only the first record that has an id, as only those are asked for, and of it only what the edit names. */
function changeList(text: string, values: readonly unknown[], edit: RecordEdit): void {
  // A lone half of a character is written as another one.
  const bytes = Buffer.from(text);
  const index = values.findIndex((value) => nonEmptyText((value as { id?: unknown } | null)?.id) !== null);
  if (index === -1 || bytes.toString() !== text) return;
  const editing = editList(jsonListOf([bytes]));
  editedOrNull(() => editing.change(index, { ...edit, at: AT }));
  const changed = editing.result()?.list;
  if (changed === undefined) return;
  const read = JSON.parse(joined(changed.content).toString('utf8')) as readonly unknown[];
  const others = (list: readonly unknown[]): unknown => list.with(index, withoutEdited(list[index]));
  if (!isDeepStrictEqual(others(values), others(read))) throw new Error('more than that changed');
}

function withoutEdited(record: unknown): unknown {
  const { state: _state, labels: _labels, comments: _comments, updated_at: _at, ...others } = record as Record<string, unknown>;
  return others;
}

/** Every record becomes an issue or is told as a bad one. */
function takeRecords(values: readonly unknown[]): void {
  const records = values.map((value, index) => ({ value, label: `record ${index}`, place: () => `record ${index}` }));
  const board = createBoard({ records, unreadable: [] });
  for (const entry of board.entries()) {
    const { value } = toIssue(entry, board);
    const isWhole = [value.id, value.identifier, value.title, value.state].every(
      (text) => typeof text === 'string' && text !== '',
    );
    if (!isWhole) throw new Error('an issue without a name, title or state');
    toComments(entry);
  }
  for (const { text } of board.badRecords) if (text() === '') throw new Error('refused without a reason');
}

export const ISSUE_FILES: readonly Target[] = [markdown, json];
