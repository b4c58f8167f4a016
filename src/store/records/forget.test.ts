import { describe, expect, it } from 'vitest';
import { forgetHistory } from './forget.ts';
import type { Row, Statement, Work } from './work.ts';

/** A database with so many old notes, and finished runs with so many events each; by which statements it is emptied. */
function databaseOf({ notes, runs }: { notes: number; runs: Record<string, number> }) {
  const left = { notes, runs: new Map(Object.entries(runs)) };
  const statements: Statement[] = [];
  const rows = (count: number): Row[] => Array.from({ length: count }, () => ({}));
  const answer = ({ sql, values }: Statement): readonly Row[] => {
    const [of, limit] = [String(values[0]), Number(values[1])];
    if (sql.startsWith('SELECT id FROM runs')) return [...left.runs.keys()].slice(0, limit).map((id) => ({ id }));
    const found = sql.startsWith('DELETE FROM notes') ? left.notes : (left.runs.get(of) ?? 0);
    const gone = Math.min(found, limit);
    if (sql.startsWith('DELETE FROM notes')) left.notes -= gone;
    else if (sql.startsWith('DELETE FROM run_events')) left.runs.set(of, found - gone);
    else if (sql === 'DELETE FROM runs WHERE id = ?') {
      expect(left.runs.get(of), 'events of a run that goes').toBe(0);
      left.runs.delete(of);
    }
    return rows(gone);
  };
  const perform = (work: Work<boolean>): boolean => {
    let step = work.next();
    while (step.done !== true) {
      statements.push(step.value);
      step = work.next(step.value.wantsRows ? answer(step.value) : (answer(step.value), []));
    }
    return step.value;
  };
  return { left, statements, perform };
}

describe('forgetting the history', () => {
  it('deletes a few records by each statement, a run after its events, until nothing is left', () => {
    const { left, statements, perform } = databaseOf({ notes: 70, runs: { a: 0, b: 130, c: 1 } });
    let pieces = 1;
    while (perform(forgetHistory(9, 50))) pieces += 1;
    expect(left).toEqual({ notes: 0, runs: new Map() });
    expect(pieces).toBeGreaterThanOrEqual(5);
    const limits = statements.filter(({ values }) => values.length === 2).map(({ values }) => Number(values[1]));
    expect(Math.max(...limits)).toBe(20);
  });

  it('stops when it may not go on, after something went', () => {
    const { left, perform } = databaseOf({ notes: 0, runs: { a: 50, b: 0 } });
    const late = () => false;
    expect(perform(forgetHistory(9, 1000, late))).toBe(true);
    expect(left.runs.get('a')).toBe(30);
    for (let count = 0; count < 4; count += 1) perform(forgetHistory(9, 1000, late));
    expect(left.runs).toEqual(new Map());
    expect(perform(forgetHistory(9, 1000, late))).toBe(false);
  });
});
