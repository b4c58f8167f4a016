import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { RecordEdit } from './edit.ts';
import { parseMarkdown } from './front-matter.ts';
import { editMarkdown, textOf } from './markdown-edit.ts';

const comment = { id: 'c1', author: 'foray', body: 'first\n\n```\ncode: "x"\n```', created_at: '2026-02-02T00:00:00.000Z' };
const edit = (text: string, change: RecordEdit): string | null => {
  const edited = editMarkdown(parseMarkdown(text), { ...change, at: '2026-02-02T00:00:00.000Z' });
  return edited && textOf(edited);
};
const withMatter = (matter: string): string => `---\n${matter}---\n\nThe body\n---\nhas lines\n`;

/** Each list is ten times the one before. */
const BOMB = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, index) => `${name}: &${name} [${Array.from({ length: 10 }, () => `*${'abcdefgh'[index]}`).join(', ')}]\n`)
  .join('');

describe('parseMarkdown', () => {
  it('reads front matter and body, and keeps the text of numbers', () => {
    const { data, body } = parseMarkdown(
      '\uFEFF--- \r\nid: 007\r\nok: true\r\nnone: ~\r\nat: 2026-01-01\r\n---\r\n\r\nHello\r\n---\r\nmore\r\n',
    );
    expect(data).toEqual({ id: '007', ok: 'true', none: null, at: '2026-01-01' });
    expect(body).toBe('Hello\r\n---\r\nmore');
  });

  it('prints nothing of its own, whatever a key is', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    expect(parseMarkdown('---\nid: 1\n? [a, b]\n: c\n---\n').data).toMatchObject({ id: '1' });
    expect(warned).not.toHaveBeenCalled();
  });

  it('takes keys that every object of the language has as they are written, and merges none', () => {
    const traps = '__proto__: { state: done }\nconstructor: { prototype: { state: done } }\n<<: { state: done }\n';
    const { data } = parseMarkdown(`---\nid: 1\n${traps}---\n`);
    expect(data['state']).toBeUndefined();
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['state']).toBeUndefined();
  });

  it.each([
    { text: '', place: 'line 1, column 1', why: 'does not begin with a line ---' },
    { text: 'hello', place: 'line 1, column 1', why: 'does not begin with a line ---' },
    { text: '---\nid: 1\n', place: 'line 1, column 1', why: 'no closing line' },
    { text: '---\nid: 1\nlabels: [a\nb: 2\n---\n', place: 'line 4, column 1', why: '' },
    { text: '---\nid: 1\nid: 2\n---\n', place: 'line 3, column 1', why: 'unique' },
    { text: '---\n- a\n---\n', place: 'line 2, column 1', why: 'keys with values' },
    { text: '---\nid: 1\nlabels: *none\n---\n', place: 'line 3, column 9', why: 'alias' },
    { text: `---\na: &a [x]\n${BOMB}---\n`, place: 'line 2, column 1', why: 'alias' },
    { text: '---\nid: 1\nlabels: &x [*x]\n---\n', place: 'line 3, column 13', why: 'within itself' },
  ])('names the place of a fault in $text', ({ text, place, why }) => {
    expect(() => parseMarkdown(text)).toThrow(
      expect.objectContaining({ place, message: expect.stringContaining(why) as string }),
    );
  });
});

describe('editMarkdown', () => {
  it.each([
    { written: 'plain', before: 'state: todo # now\nx: 1\n', after: 'state: In Review # now\nx: 1\n' },
    { written: 'quoted', before: 'state: "todo"\nx: 1\n', after: 'state: "In Review"\nx: 1\n' },
    { written: 'as a block', before: 'state: |\n  todo\nx: 1\n', after: 'state: In Review\nx: 1\n' },
    { written: 'as a block with a remark', before: 'state: >- # now\n  todo\nx: 1\n', after: 'state: In Review # now\nx: 1\n' },
    { written: 'not at all', before: 'state:\nx: 1\n', after: 'state: In Review\nx: 1\n' },
    { written: 'as a remark alone', before: 'state: # now\nx: 1\n', after: 'state: In Review # now\nx: 1\n' },
  ])('changes a state that is written $written', ({ before, after }) => {
    expect(edit(withMatter(before), { type: 'state', state: 'In Review' })).toBe(withMatter(after));
  });

  it('keeps the line ends of a block', () => {
    const text = '---\r\nstate: | # now\r\n  todo\r\nx: 1\r\n---\r\n';
    expect(edit(text, { type: 'state', state: 'done' })).toBe('---\r\nstate: done # now\r\nx: 1\r\n---\r\n');
  });

  it.each(['yes: no', '# x', '"', '007', 'null', 'é', ' - x'])('writes the state %s so that it reads the same', (state) => {
    const after = edit(withMatter('state: todo\n'), { type: 'state', state }) ?? '';
    expect(parseMarkdown(after).data['state']).toBe(state);
  });

  it('sets updated_at where the file has one, and keeps line ends', () => {
    const text = '---\r\nstate: todo\r\nupdated_at: 2026-01-01\r\n---\r\nbody';
    expect(edit(text, { type: 'state', state: 'done' })).toBe(
      '---\r\nstate: done\r\nupdated_at: 2026-02-02T00:00:00.000Z\r\n---\r\nbody',
    );
  });

  it.each([
    { written: 'absent', before: 'state: a\n', after: 'state: a\nlabels:\n  - x\n' },
    { written: 'empty', before: 'labels:\nstate: a\n', after: 'labels: [x]\nstate: a\n' },
    {
      written: 'empty with a remark',
      before: 'labels:  # two\n  # or more\nx: 1\n',
      after: 'labels:  [x] # two\n  # or more\nx: 1\n',
    },
    { written: 'null', before: 'labels: ~\nstate: a\n', after: 'labels: [x]\nstate: a\n' },
    { written: 'an empty list', before: 'labels: []\nstate: a\n', after: 'labels: [x]\nstate: a\n' },
    { written: 'in brackets', before: 'labels: [a, "b"] # two\n', after: 'labels: [a, "b", x] # two\n' },
    {
      written: 'as lines',
      before: 'labels:\n  - a # one\n  - b\nstate: a\n',
      after: 'labels:\n  - a # one\n  - b\n  - x\nstate: a\n',
    },
    { written: 'as lines at the margin', before: 'labels:\n- a\nstate: a\n', after: 'labels:\n- a\n- x\nstate: a\n' },
  ])('adds a label to labels that are $written', ({ before, after }) => {
    expect(edit(withMatter(before), { type: 'add_label', label: 'x' })).toBe(withMatter(after));
  });

  it.each([
    { written: 'first of brackets', before: 'labels: [x, a]\n', after: 'labels: [a]\n' },
    { written: 'last of brackets', before: 'labels: [a, X]\n', after: 'labels: [a]\n' },
    { written: 'alone in brackets', before: 'labels: [x]\n', after: 'labels: []\n' },
    { written: 'a line', before: 'labels:\n  - a\n  - x # gone\n  - b\n', after: 'labels:\n  - a\n  - b\n' },
    { written: 'the only line', before: 'labels:\n  - x\nstate: a\n', after: 'labels:\nstate: a\n' },
  ])('removes a label that is $written', ({ before, after }) => {
    expect(edit(withMatter(before), { type: 'remove_label', label: 'x' })).toBe(withMatter(after));
  });

  it('adds comments people can read', () => {
    const once = edit(withMatter('state: a\n'), { type: 'comment', comment }) ?? '';
    expect(once).toBe(
      withMatter(
        [
          'state: a',
          'comments:',
          '  - id: c1',
          '    author: foray',
          '    body: |-',
          '      first',
          '',
          '      ```',
          '      code: "x"',
          '      ```',
          '    created_at: 2026-02-02T00:00:00.000Z',
          '',
        ].join('\n'),
      ),
    );
    const twice = edit(once, { type: 'comment', comment: { ...comment, id: 'c2' } }) ?? '';
    expect((parseMarkdown(twice).data['comments'] as { id: string }[]).map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(twice.startsWith(once.slice(0, once.indexOf('---\n\nThe body')))).toBe(true);
  });

  it('has nothing to do for the same state, a label that is there, or one that is not', () => {
    const text = withMatter('state: ToDo\nlabels: [Bug]\n');
    expect(edit(text, { type: 'state', state: 'todo' })).toBeNull();
    expect(edit(text, { type: 'add_label', label: 'bug' })).toBeNull();
    expect(edit(text, { type: 'remove_label', label: 'ui' })).toBeNull();
  });

  it('refuses labels that are no list', () => {
    expect(() => edit(withMatter('labels: bug\n'), { type: 'add_label', label: 'x' })).toThrow(
      expect.objectContaining({ name: 'EditRefusedError' }),
    );
  });

  it.each([
    {
      what: 'in braces',
      before: '{id: 007, state: todo,labels: [b], n: 1.50, ok: true} # by hand\n',
      after: '{id: 007, state: "In, Review",labels: [b], n: 1.50, ok: true} # by hand\n',
    },
    {
      what: 'that others refer to',
      before: 'id: 1 # mine\nstate: &s todo\nold: *s\nolder: *s\ntext: >-\n  a\n  b\n',
      after: 'id: 1 # mine\nstate: In, Review\nold: &s todo\nolder: *s\ntext: >-\n  a\n  b\n',
    },
    {
      what: 'that nothing refers to any more',
      before: 'state: &s "todo"\nn: 0x1F\n',
      after: 'state: &s "In, Review"\nn: 0x1F\n',
    },
  ])('changes a state $what and nothing else', ({ before, after }) => {
    expect(edit(withMatter(before), { type: 'state', state: 'In, Review' })).toBe(withMatter(after));
  });

  it.each([
    { before: '{id: 1, ok: true}\n', after: '{id: 1, ok: true, labels: [x]}\n' },
    { before: '{id: 1, labels: [a],}\n', after: '{id: 1, labels: [a, x],}\n' },
    { before: 'n: 1\nlabels: &l [b]\nmine: *l\n', after: 'n: 1\nlabels: [b, x]\nmine: &l [b]\n' },
    {
      before: 'n: 1.50 # mine\nok: true\nhex: 0x1F\nnone: ~\nlist: &l [007, b]\nlabels: *l\n',
      after: 'n: 1.50 # mine\nok: true\nhex: 0x1F\nnone: ~\nlist: [ 007, b ]\nlabels:\n  - "007"\n  - b\n  - x\n',
    },
  ])('keeps the numbers and truths beside a label of %j', ({ before, after }) => {
    expect(edit(withMatter(before), { type: 'add_label', label: 'x' })).toBe(withMatter(after));
  });

  it.each([
    '{id: 1, state: todo}\n',
    '{id: 1, state: todo, labels: [b], comments: [{body: x}], updated_at: x,}\n',
    'id: 1\nlabels: &l [b]\nmine: *l\n',
    'id: 1\nmine: &l [b]\nlabels: *l\ncomments: &c\n  - &d { body: x }\n  - *d\n',
  ])('makes every change of %j', (matter) => {
    const labelled = edit(withMatter(matter), { type: 'add_label', label: 'x' }) ?? '';
    const commented = edit(labelled, { type: 'comment', comment }) ?? '';
    const after = edit(commented, { type: 'remove_label', label: 'b' }) ?? commented;
    const [before, now] = [parseMarkdown(withMatter(matter)).data, parseMarkdown(after).data];
    expect(now).toMatchObject({ id: '1', labels: ['x'], ...(before['mine'] ? { mine: ['b'] } : {}) });
    expect(now['comments']).toEqual([...((before['comments'] as object[] | undefined) ?? []), comment]);
  });

  it('keeps a comment of whatever text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', 'comments: []\n', 'comments:\n  - body: x\n'),
        (body, before) => {
          const after = edit(withMatter(`state: a\n${before}`), { type: 'comment', comment: { ...comment, body } }) ?? '';
          expect((parseMarkdown(after).data['comments'] as { body: string }[]).at(-1)?.body).toBe(body);
        },
      ),
      { numRuns: 40 },
    );
  });
});
