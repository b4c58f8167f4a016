import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBoard } from './issue-board.ts';
import type { IssueBoard } from './issue-board.ts';
import type { FoundRecord } from './records.ts';

const name = fc.constantFrom('1', '2', '3', '');
const record = fc
  .record({ id: name, identifier: name, title: fc.constantFrom('T', ''), state: fc.constantFrom('todo', 'done', '') })
  .map((value): FoundRecord => ({ value, label: 'record', place: () => 'there' }));

/** Everything that a board answers. */
function answersOf(board: IssueBoard): unknown {
  const names = ['1', '2', '3', ''];
  return [
    board.entries(),
    names.map((one) => [board.find(one), board.findByIdentifier(one), board.stateOf(one), board.stateOfIdentifier(one)]),
    board.badRecords.map(({ key }) => key),
  ];
}

describe('a board after a change', () => {
  it('answers as one that is made anew', () => {
    const change = fc.tuple(fc.nat(5), record);
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), fc.array(change, { maxLength: 2 }), (records, changes) => {
        const next = records.slice();
        for (const [place, changed] of changes) if (place < next.length) next[place] = changed;
        const anew = createBoard({ records: next, unreadable: [] });
        const after = createBoard({ records, unreadable: [] }).after({ records: next, unreadable: [] });
        if (after !== null) expect(answersOf(after)).toEqual(answersOf(anew));
      }),
    );
  });

  it('is not made anew where only what an issue says of itself changed', () => {
    const found = (id: string, state: string): FoundRecord => ({
      value: { id, identifier: id, title: 'T', state },
      label: id,
      place: () => id,
    });
    const records = [found('1', 'todo'), found('2', 'todo')];
    const board = createBoard({ records, unreadable: [] });
    const after = board.after({ records: [records[0]!, found('2', 'done')], unreadable: [] });
    expect([after?.stateOf('1'), after?.stateOf('2'), board.stateOf('2')]).toEqual(['todo', 'done', 'todo']);
    expect(board.after({ records: [records[0]!, found('3', 'done')], unreadable: [] })).toBeNull();
  });
});
