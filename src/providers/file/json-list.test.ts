import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameState } from '../../domain/model/issue.ts';
import { joined, lengthOf } from './content.ts';
import type { RecordEdit } from './edit.ts';
import { editList, jsonListOf, placeOfRecord } from './json-list.ts';

const comment = { id: 'c1', author: 'foray', body: 'a\n"b"', created_at: '2026-02-02T00:00:00.000Z' };
const edit = (text: string, change: RecordEdit, index = 0): string | null => {
  const editing = editList(jsonListOf([Buffer.from(text)]));
  editing.change(index, { ...change, at: '2026-02-02T00:00:00.000Z' });
  const result = editing.result();
  return result && joined(result.list.content).toString();
};

describe('editList', () => {
  it('changes the value of the state and nothing else', () => {
    const text = '[ {"id":1,"state":"todo", "x" : [ 1,2 ]} ,\n\t{"state": "todo"}]\n';
    expect(edit(text, { type: 'state', state: 'In "Review"' })).toBe(text.replace('"todo"', String.raw`"In \"Review\""`));
    expect(edit(text, { type: 'state', state: 'done' }, 1)).toBe(text.replace('{"state": "todo"}', '{"state": "done"}'));
  });

  it('has nothing to do for the same state, a label that is there, or one that is not', () => {
    const text = '[{"state":"ToDo","labels":["Bug"]}]';
    expect(edit(text, { type: 'state', state: 'todo ' })).toBeNull();
    expect(edit(text, { type: 'add_label', label: 'bug' })).toBeNull();
    expect(edit(text, { type: 'remove_label', label: 'ui' })).toBeNull();
  });

  it('sets updated_at where the record has one, in the last of equal keys', () => {
    expect(edit('[{"updated_at":"x","state":"a","state":"b"}]', { type: 'state', state: 'c' })).toBe(
      '[{"updated_at":"2026-02-02T00:00:00.000Z","state":"a","state":"c"}]',
    );
  });

  it.each([
    { shape: 'compact', before: '[{"id":"1"}]', after: '[{"id":"1","labels":["x"]}]' },
    { shape: 'one line', before: '[{ "id": "1" }]', after: '[{ "id": "1", "labels": ["x"] }]' },
    { shape: 'tight with blanks', before: '[{"id": "1"}]', after: '[{"id": "1", "labels": ["x"]}]' },
    {
      shape: 'many lines',
      before: '[\n  {\n    "id": "1"\n  }\n]',
      after: '[\n  {\n    "id": "1",\n    "labels": ["x"]\n  }\n]',
    },
    { shape: 'null', before: '[{"labels": null, "id": "1"}]', after: '[{"labels": ["x"], "id": "1"}]' },
    { shape: 'empty list', before: '[{"labels": [ ], "id": "1"}]', after: '[{"labels": ["x"], "id": "1"}]' },
    { shape: 'a list', before: '[{"labels": ["a", "b"]}]', after: '[{"labels": ["a", "b", "x"]}]' },
    { shape: 'a compact list', before: '[{"labels":["a","b"]}]', after: '[{"labels":["a","b","x"]}]' },
    { shape: 'a list of lines', before: '[{"labels": [\n "a"\n]}]', after: '[{"labels": [\n "a",\n "x"\n]}]' },
  ])('adds a label to a record written as $shape', ({ before, after }) => {
    expect(edit(before, { type: 'add_label', label: 'x' })).toBe(after);
  });

  it.each([
    { where: 'first', before: '["x", "a"]', after: '["a"]' },
    { where: 'middle', before: '["a", "X", "b"]', after: '["a", "b"]' },
    { where: 'last', before: '[\n"a",\n"x"\n]', after: '[\n"a"\n]' },
    { where: 'only', before: '[ "x" ]', after: '[]' },
    { where: 'several', before: '["x","a","x"," X "]', after: '["a"]' },
  ])('removes a label that is $where', ({ before, after }) => {
    expect(edit(`[{"labels": ${before}}]`, { type: 'remove_label', label: 'x' })).toBe(`[{"labels": ${after}}]`);
  });

  it('adds comments spaced like the record', () => {
    const once = edit('[\r\n  {\r\n    "id": "1"\r\n  }\r\n]', { type: 'comment', comment }) ?? '';
    expect(once).toBe(
      [
        '[',
        '  {',
        '    "id": "1",',
        '    "comments": [',
        '      {',
        '        "id": "c1",',
        '        "author": "foray",',
        String.raw`        "body": "a\n\"b\"",`,
        '        "created_at": "2026-02-02T00:00:00.000Z"',
        '      }',
        '    ]',
        '  }',
        ']',
      ].join('\r\n'),
    );
    const twice = edit(once, { type: 'comment', comment: { ...comment, id: 'c2' } }) ?? '';
    expect(twice.split('\r\n').slice(9, 12)).toEqual(['      },', '      {', '        "id": "c2",']);
    expect(edit('[{"id":1}]', { type: 'comment', comment })).toBe(`[{"id":1,"comments":[${JSON.stringify(comment)}]}]`);
  });

  it('copies every other byte as it is, whatever it stands for, and knows where the records are afterwards', () => {
    const [head, tail] = [Buffer.from('\uFEFF[{"id":"ü€𝄞"},{"state":"todo"},{"x":"'), Buffer.from([0xff, 0x22, 0x7d, 0x5d])];
    const editing = editList(jsonListOf([head, tail]));
    const at = '2026-02-02T00:00:00.000Z';
    editing.change(1, { type: 'state', state: 'déjà vu', at });
    editing.change(0, { type: 'add_label', label: 'ü', at });
    const first = editing.result()!.list;
    expect(joined(first.content).subarray(-5)).toEqual(Buffer.from([0x22, ...tail]));
    const again = editList(first);
    again.change(1, { type: 'state', state: 'done', at });
    again.change(0, { type: 'remove_label', label: 'Ü', at });
    const { list, changed } = again.result()!;
    expect([...changed].sort()).toEqual([
      [0, { id: 'ü€𝄞', labels: [] }],
      [1, { state: 'done' }],
    ]);
    const bytes = joined(list.content);
    expect(bytes.toString('utf8', 0, bytes.length - tail.length)).toBe('\uFEFF[{"id":"ü€𝄞","labels":[]},{"state":"done"},{"x":"');
  });

  it('keeps a long list right through many changes anywhere in it, and copies little of it', () => {
    const records = Array.from({ length: 1_000 }, (_, index) => ({ id: `ü${index}`, state: 'todo' }));
    const text = JSON.stringify(records, null, 2);
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(fc.nat(999), fc.string({ minLength: 1 })), { minLength: 1 })), (turns) => {
        const expected = structuredClone(records);
        let list = jsonListOf([Buffer.from(text)]);
        for (const turn of turns) {
          const editing = editList(list);
          for (const [index, state] of turn) {
            editing.change(index, { type: 'state', state, at: '2026-02-02T00:00:00.000Z' });
            if (!sameState(expected[index]!.state, state)) expected[index]!.state = state;
          }
          list = editing.result()?.list ?? list;
        }
        expect(joined(list.content).toString()).toBe(JSON.stringify(expected, null, 2));
        expect(placeOfRecord(list, 999)).toBe('line 3998, column 3');
      }),
    );
    const [before, editing] = [jsonListOf([Buffer.from(text)]), editList(jsonListOf([Buffer.from(text)]))];
    editing.change(500, { type: 'state', state: 'done', at: '2026-02-02T00:00:00.000Z' });
    const after = editing.result()!.list;
    const again = editList(after);
    again.change(501, { type: 'state', state: 'done', at: '2026-02-02T00:00:00.000Z' });
    const shared = again.result()!.list.content.filter((part) => after.content.includes(part));
    expect(lengthOf(shared)).toBeGreaterThan(lengthOf(before.content) * 0.7);
  });

  it('refuses to throw away what is no list', () => {
    expect(() => edit('[{"labels": "bug"}]', { type: 'add_label', label: 'x' })).toThrow('labels is not a list');
    expect(() => edit('[{"comments": {}}]', { type: 'comment', comment })).toThrow('comments is not a list');
  });

  it('changes nothing but what it is told, whatever the record', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const record = fc
      .tuple(fc.dictionary(fc.string(), value), fc.array(fc.string({ minLength: 1 })))
      .map(([rest, labels]): Record<string, unknown> => ({ ...rest, state: 'todo', labels, comments: [] }));
    const change = fc.oneof(
      fc.string({ minLength: 1 }).map((state): RecordEdit => ({ type: 'state', state })),
      fc.string({ minLength: 1 }).map((label): RecordEdit => ({ type: 'add_label', label })),
      fc.constant<RecordEdit>({ type: 'comment', comment }),
    );
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1 }),
        fc.nat(),
        change,
        fc.constantFrom(undefined, 1, '\t'),
        (list, pick, one, space) => {
          const index = pick % list.length;
          const text = JSON.stringify(list, null, space);
          const expected = structuredClone(JSON.parse(text) as Record<string, unknown>[]);
          const after = JSON.parse(edit(text, one, index) ?? text) as Record<string, unknown>[];
          const [touched, target] = [after[index] ?? {}, expected[index] ?? {}];
          for (const key of ['state', 'labels', 'comments', 'updated_at']) delete touched[key];
          for (const key of ['state', 'labels', 'comments', 'updated_at']) delete target[key];
          expect(after).toEqual(expected);
        },
      ),
    );
  });
});
