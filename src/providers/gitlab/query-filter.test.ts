import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQueryFilter, withFilter } from './query-filter.ts';

function pairsOf(fragment: string) {
  const parsed = parseQueryFilter(fragment);
  return 'fault' in parsed ? parsed.fault : parsed.pairs;
}

const RESERVED = ['state', 'issue_type', 'order_by', 'sort', 'page', 'per_page', 'pagination', 'with_labels_details'];
const ALLOWED = [
  'assignee_id',
  'assignee_username',
  'author_id',
  'author_username',
  'confidential',
  'created_after',
  'created_before',
  'due_date',
  'iids',
  'in',
  'labels',
  'milestone',
  'milestone_id',
  'my_reaction_emoji',
  'scope',
  'search',
  'updated_after',
  'updated_before',
];
const NEGATABLE = ALLOWED.filter((key) => /^(assignee|author|milestone)|^(iids|labels)$/.test(key));

describe('reserved keys', () => {
  it.each(RESERVED.flatMap((key) => [key, `${key}[]`, `not[${key}]`]))('%s is rejected', (key) => {
    expect(pairsOf(`${key}=1`)).toContain('reserved');
  });
});

describe('allowed keys', () => {
  it.each(ALLOWED)('%s', (key) => {
    expect(pairsOf(`${key}=1`)).toEqual([[key, '1']]);
    expect(pairsOf(`${key}[]=1`)).toEqual([[`${key}[]`, '1']]);
  });

  it.each(['label', 'assignee', 'weight', 'Labels', '?labels', 'labels[0]', 'not', 'not[]', 'not[labels', 'or[labels]', ''])(
    '%j is not known and rejected',
    (key) => {
      expect(pairsOf(`${key}=1`)).toContain('not a known filter');
    },
  );
});

describe('negatable keys', () => {
  it.each(NEGATABLE)('not[%s]', (key) => {
    expect(pairsOf(`not[${key}]=1`)).toEqual([[`not[${key}]`, '1']]);
    expect(pairsOf(`not%5B${key}%5D%5B%5D=1`)).toEqual([[`not[${key}][]`, '1']]);
  });

  it.each(ALLOWED.filter((key) => !NEGATABLE.includes(key)))('not[%s] is rejected', (key) => {
    expect(pairsOf(`not[${key}]=1`)).toContain('cannot be negated');
  });
});

describe('other rejections', () => {
  it.each([
    ['broken percent-encoding in a value', 'labels=%zz', 'not a valid query'],
    ['broken percent-encoding in a key', 'l%abels=a', 'not a valid query'],
    ['a bare semicolon', 'labels=a;state=closed', 'semicolon'],
    ['an empty segment in the middle', 'labels=a,,b', 'empty value'],
    ['an empty segment at the end', 'labels=a,', 'empty value'],
    ['a blank segment', 'labels=a,%20,b', 'empty value'],
    ['an empty value', 'labels=', 'empty value'],
    ['a key without a value', 'labels', 'empty value'],
    ['a key without the suffix repeated', 'search=a&search=b', 'given twice'],
    ['a negated key repeated', 'not[labels]=a&not[labels]=b', 'given twice'],
    ['two spellings of one parameter', 'labels=a&labels[]=b', 'two spellings'],
    ['two spellings the other way round', 'labels[]=a&labels=b', 'two spellings'],
  ])('%s', (_, fragment, why) => {
    expect(pairsOf(fragment)).toContain(why);
  });
});

describe('arrays and decoding', () => {
  it.each<[what: string, fragment: string, pairs: [string, string][]]>([
    ['empty', '', []],
    ['empty parts are skipped', '&labels=a&&search=b&', [['labels', 'a'], ['search', 'b']]], // prettier-ignore
    ['an array repeats', 'assignee_username[]=a&assignee_username[]=b', [['assignee_username[]', 'a'], ['assignee_username[]', 'b']]], // prettier-ignore
    ['a key and its negation are two', 'labels=a&not[labels]=b', [['labels', 'a'], ['not[labels]', 'b']]], // prettier-ignore
    ['plus and percent are decoded', 'labels=two+words%2Cthree%26four', [['labels', 'two words,three&four']]],
    ['an equals sign in a value', 'search=a=b', [['search', 'a=b']]],
  ])('%s', (_, fragment, pairs) => {
    expect(pairsOf(fragment)).toEqual(pairs);
  });
});

it('names its labels once, without None and Any unless negated', () => {
  const parsed = parseQueryFilter('labels[]=a,%20b&labels[]=None&labels[]=any&labels[]=a&not[labels]=None,c');
  expect(parsed).toMatchObject({ labels: ['a', 'b', 'None', 'c'] });
});

describe('merging', () => {
  it('replaces the value of a key it names and adds the others', () => {
    const filter = parseQueryFilter('scope=assigned_to_me&labels=a,b&not[labels][]=x');
    if ('fault' in filter) throw new Error(filter.fault);
    const query = withFilter({ state: 'opened', scope: 'all' }, filter);
    expect([...query]).toEqual([
      ['state', 'opened'],
      ['scope', 'assigned_to_me'],
      ['labels', 'a,b'],
      ['not[labels][]', 'x'],
    ]);
  });
});

it('never throws, and never lets a reserved key through', () => {
  const piece = fc.constantFrom(
    ...RESERVED,
    'labels',
    'iids',
    'not[',
    '[',
    ']',
    '[]',
    '=',
    '&',
    ';',
    '%5B',
    '%5D',
    '%',
    '+',
    'a',
  );
  const fragment = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string(), fragment), (text) => {
      const parsed = parseQueryFilter(text);
      if ('fault' in parsed) return;
      for (const [key] of parsed.pairs) {
        expect(ALLOWED).toContain(key.replace(/^not\[(.*?)\]/, '$1').replace(/\[\]$/, ''));
      }
    }),
    { numRuns: 1000 },
  );
});
