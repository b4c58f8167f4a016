import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_NODES, flatten, toDocument } from './document.ts';

const words = (text: string) => ({ type: 'text', text });
const doc = (...content: unknown[]) => ({ type: 'doc', version: 1, content });

const LISTED = [
  'paragraph',
  'heading',
  'bulletList',
  'orderedList',
  'listItem',
  'blockquote',
  'codeBlock',
  'rule',
  'table',
  'tableRow',
  'tableCell',
  'tableHeader',
  'panel',
  'decisionList',
  'decisionItem',
  'taskList',
  'taskItem',
  'mediaSingle',
  'mediaGroup',
];

describe('flattening a document', () => {
  it.each(['constructor', 'toString', '__proto__'])('takes a node of the type %s for one that says nothing itself', (type) => {
    expect(flatten(doc({ type, content: [words('It stops.')] }))).toBe('It stops.');
  });

  it('knows the documented blocks and no others', () => {
    expect([...BLOCK_NODES]).toEqual(LISTED);
  });

  it.each(LISTED)('%s ends with a line break', (type) => {
    expect(flatten(doc({ type, content: [words('a')] }, words('b')))).toBe('a\nb');
  });

  it.each(['doc', 'hardBreak', 'mention', 'emoji', 'inlineCard', 'media', 'expand', 'unknown'])('%s does not', (type) => {
    expect(flatten(doc(words('a'), { type, content: [words('b')] }, words('c')))).toBe('abc');
  });

  it('nested blocks each end their line', () => {
    const item = (text: string) => ({ type: 'listItem', content: [{ type: 'paragraph', content: [words(text)] }] });
    expect(flatten(doc({ type: 'bulletList', content: [item('a'), item('b')] }, words('c')))).toBe('a\n\nb\n\n\nc');
  });

  it('white space at the end is trimmed, at the beginning kept', () => {
    expect(flatten(doc({ type: 'paragraph', content: [words('  a \t')] }, { type: 'rule' }, { type: 'paragraph' }))).toBe('  a');
  });

  it.each([
    [null],
    [undefined],
    ['text'],
    [7],
    [true],
    [[]],
    [[words('a')]],
    [{}],
    [{ type: 'doc' }],
    [{ type: 'doc', content: 'x' }],
    [{ type: 'text' }],
    [{ type: 'text', text: 7 }],
    [{ content: [null, 7, 'x', []] }],
  ])('%j gives an empty text', (input) => {
    expect(flatten(input)).toBe('');
  });

  it('a tree nested beyond any stack is read', () => {
    let node: unknown = words('deep');
    for (let depth = 0; depth < 100_000; depth += 1) node = { type: 'blockquote', content: [node] };
    expect(flatten(node)).toBe('deep');
  });

  it('nothing makes it throw', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => typeof flatten(value) === 'string'));
  });
});

const paragraph = (text: string) => ({ type: 'paragraph', content: text ? [words(text)] : [] });
const code = (text: string) => ({ type: 'codeBlock', content: text ? [words(text)] : [] });

describe('writing a document', () => {
  it.each<[string, string, unknown[]]>([
    ['one line', 'hello', [paragraph('hello')]],
    ['one paragraph per line', 'a\nb\r\nc', [paragraph('a'), paragraph('b'), paragraph('c')]],
    ['an empty line is an empty paragraph', 'a\n\nb', [paragraph('a'), paragraph(''), paragraph('b')]],
    ['a fence', 'a\n```\nx\n  y\n```\nb', [paragraph('a'), code('x\n  y'), paragraph('b')]],
    ['a longer fence holds a shorter one', '````\n```\nx\n```\n````', [code('```\nx\n```')]],
    ['a closing fence may be longer', '```\nx\n`````', [code('x')]],
    ['a fence with a language', '```ts\nx\n```', [{ ...code('x'), attrs: { language: 'ts' } }]],
    ['an empty fence', '```\n```', [code('')]],
    ['a fence that never closes', '```\nx\ny', [code('x\ny')]],
    ['two fences', '```\nx\n```\n```\ny\n```', [code('x'), code('y')]],
    ['two backticks are text', '``\nx', [paragraph('``'), paragraph('x')]],
    ['backticks in a line are text', '```a``` b', [paragraph('```a``` b')]],
    ['white space inside a fence is kept', '```\n\n x\n```', [code('\n x')]],
  ])('%s', (_, text, content) => {
    expect(toDocument(text)).toEqual({ type: 'doc', version: 1, content });
  });

  it('has no empty text node, and reads back as the text it was made of', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ' ', '`', '\n', '\t', 'é') });
    fc.assert(
      fc.property(line, (text) => {
        const document = toDocument(text);
        expect(JSON.stringify(document)).not.toContain('"text":""');
        const bare = (value: string): string => value.replace(/[`\s]/g, '');
        if (!/`{3,}.*[^`\s]/.test(text)) expect(bare(flatten(document))).toBe(bare(text));
      }),
    );
  });
});

describe('inline nodes without a text node', () => {
  it.each([
    { type: 'mention', attrs: { id: '1', text: '@Ann' } },
    { type: 'inlineCard', attrs: { url: 'https://acme.test/x' } },
    { type: 'hardBreak', attrs: { text: '\n' } },
    { type: 'emoji', attrs: { text: ':)' } },
  ])('%j says nothing', (node) => {
    const content = [{ type: 'text', text: 'a' }, node, { type: 'text', text: 'b' }];
    expect(flatten({ type: 'doc', content: [{ type: 'paragraph', content }] })).toBe('ab');
  });
});
