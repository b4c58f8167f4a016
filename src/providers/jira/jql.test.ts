import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byIdsJql, byKeysJql, byStatesJql, candidatesJql } from './search.ts';

const plain = { project: 'ABC', queryFilter: '' };
const filtered = { project: 'ABC', queryFilter: 'labels = agent OR priority = Highest' };

describe('expressions of the specification', () => {
  it.each([
    [
      'candidates',
      candidatesJql(plain, ['To Do', 'Doing']),
      'project = "ABC" AND status IN ("To Do", "Doing") ORDER BY priority ASC, created ASC',
    ],
    [
      'candidates, filtered',
      candidatesJql(filtered, ['A']),
      'project = "ABC" AND status IN ("A") AND (labels = agent OR priority = Highest) ORDER BY priority ASC, created ASC',
    ],
    ['by states', byStatesJql(plain, ['Done']), 'project = "ABC" AND status IN ("Done") ORDER BY created ASC'],
    [
      'by states, filtered',
      byStatesJql(filtered, ['Done', 'Canceled']),
      'project = "ABC" AND status IN ("Done", "Canceled") AND (labels = agent OR priority = Highest) ORDER BY created ASC',
    ],
    ['by ids', byIdsJql(['10001', '10002']), 'id IN (10001, 10002) ORDER BY key ASC'],
    ['by keys', byKeysJql(['ABC-1', 'ABC-2']), 'key IN ("ABC-1", "ABC-2") ORDER BY key ASC'],
    [
      'quotes are removed',
      candidatesJql({ ...plain, project: 'A"B' }, ['say "hi"']),
      'project = "AB" AND status IN ("say hi") ORDER BY priority ASC, created ASC',
    ],
    ['a backslash cannot escape the closing quote', byKeysJql(['A\\']), 'key IN ("A\\\\") ORDER BY key ASC'],
  ])('%s', (_, jql, expected) => {
    expect(jql).toBe(expected);
  });

  it('no value leaves its quotes', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (values) => {
        const list = byKeysJql(values)
          .replace(/^key IN \(/, '')
          .replace(/\) ORDER BY key ASC$/, '');
        const strings = list.match(/"(?:[^"\\]|\\.)*"/gsu) ?? [];
        expect(strings.join(', ')).toBe(list);
        expect(strings).toHaveLength(values.length);
      }),
    );
  });
});
