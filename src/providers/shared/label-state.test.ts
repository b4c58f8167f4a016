import { describe, expect, it } from 'vitest';
import type { LabelStateRule } from './label-state.ts';
import { deriveState } from './label-state.ts';

const ACTIVE = ['backlog', 'in-progress', 'review'];
const TERMINAL = ['done', 'wontfix'];
const HANDOFF = ['human-review'];

type Row = [what: string, labels: string[], native: 'open' | 'closed', state: string, matches?: string[]];

function walk(rule: LabelStateRule, rows: readonly Row[]): void {
  it.each(rows)('%s', (_, labels, native, state, matches = state && labels.length > 0 ? [state] : []) => {
    expect(deriveState(labels, native, rule)).toMatchObject({ state, matches });
  });
}

describe('repoissues: active, terminal, handoff', () => {
  walk({ lists: [ACTIVE, TERMINAL, HANDOFF], terminal: TERMINAL, open: 'backlog', closed: 'done' }, [
    ['1. the first active entry among the labels', ['bug', 'review'], 'open', 'review'],
    ['1. configuration order decides, not label order', ['review', 'backlog'], 'open', 'backlog', ['backlog', 'review']],
    ['1. active wins over terminal', ['done', 'review'], 'closed', 'review', ['review', 'done']],
    ['2. the first terminal entry', ['wontfix'], 'open', 'wontfix'],
    ['2a. the handoff label, after active and terminal', ['human-review'], 'open', 'human-review'],
    ['2a. active wins over handoff', ['human-review', 'review'], 'open', 'review', ['review', 'human-review']],
    ['3. none on an open issue', [], 'open', 'backlog'],
    ['3. none on a closed issue', ['bug'], 'closed', 'done', []],
    ['labels in another case', ['In-Progress'], 'open', 'in-progress'],
  ]);

  describe('4. both lists empty', () => {
    walk({ lists: [[], [], []], terminal: [], open: 'open', closed: 'closed' }, [
      ['the native value of an open issue', ['bug'], 'open', 'open', []],
      ['the native value of a closed issue', [], 'closed', 'closed'],
    ]);
  });
});

describe('nsproject: active, terminal, handoff, all matches told', () => {
  walk({ lists: [ACTIVE, TERMINAL, HANDOFF], terminal: TERMINAL, open: 'backlog', closed: 'done' }, [
    ['one match', ['done'], 'closed', 'done'],
    [
      'several matches: the first by scan order',
      ['human-review', 'done', 'backlog'],
      'open',
      'backlog',
      ['backlog', 'done', 'human-review'],
    ],
    ['none on an opened issue', [], 'open', 'backlog'],
    ['none on a closed issue', [], 'closed', 'done'],
    ['case variants of one label are one match', ['Done', 'done'], 'closed', 'done'],
  ]);
});

describe('selfhosted: terminal, handoff, active', () => {
  walk({ lists: [['Done'], ['Human Review'], ['Todo', 'Doing']], terminal: ['Done'], open: '', closed: 'Done' }, [
    ['terminal wins over the others', ['todo', 'human review', 'done'], 'open', 'Done', ['Done', 'Human Review', 'Todo']],
    ['handoff wins over active', ['doing', 'human review'], 'open', 'Human Review', ['Human Review', 'Doing']],
    ['active, as configured', ['doing'], 'open', 'Doing'],
    ['none on a closed issue', [], 'closed', 'Done'],
    ['none on an open issue: no state', ['bug'], 'open', ''],
  ]);
});

it('a blank configured entry matches nothing', () => {
  const rule = { lists: [['', ' ']], terminal: [], open: 'x', closed: 'y' };
  expect(deriveState(['', ' '], 'open', rule)).toMatchObject({ state: 'x', matches: [] });
});

it.each([
  ['an active label', ['backlog'], 'closed', true],
  ['the handoff label', ['human-review'], 'closed', true],
  ['a terminal label', ['Done'], 'closed', false],
  ['no state label', [], 'closed', false],
  ['an active label, and open', ['backlog'], 'open', false],
] as const)('closed while the state is not a terminal one: %s', (_, labels, native, isClosed) => {
  const rule = { lists: [ACTIVE, TERMINAL, HANDOFF], terminal: TERMINAL, open: 'backlog', closed: 'done' };
  expect(deriveState(labels, native, rule).isClosed).toBe(isClosed);
});
