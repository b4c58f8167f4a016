import { describe, expect, it } from 'vitest';
import type { Board } from '../../ports/provider.ts';
import { proposeStates } from './propose.ts';

const board = (what: Board['what'], createsMissing: boolean, ...names: readonly string[]): Board => ({
  what,
  createsMissing,
  states: names.map((name) => ({ name, stage: null })),
});

describe('the states that init proposes', () => {
  it.each([
    {
      of: 'issues in one state, where a file may hold any',
      seen: board('states', true, 'Todo'),
      proposed: { active: ['Todo'], terminal: ['Done'], handoff: 'Review' },
    },
    {
      of: 'issues in states of their own',
      seen: board('states', true, 'Open', 'Closed'),
      proposed: { active: ['Open'], terminal: ['Closed'], handoff: 'Review' },
    },
    {
      of: 'no issue at all',
      seen: board('states', true),
      proposed: { active: ['Todo'], terminal: ['Done'], handoff: 'Review' },
    },
    {
      of: 'a forge with labels of another purpose',
      seen: board('labels', false, 'bug', 'wontfix'),
      proposed: { active: ['todo'], terminal: ['wontfix'], handoff: 'review' },
    },
    {
      of: 'a tracker that has the states it has',
      seen: board('states', false, 'To Do', 'Done'),
      proposed: { active: ['To Do'], terminal: ['Done'], handoff: null },
    },
  ])('$of', ({ seen, proposed }) => {
    expect(proposeStates(seen)).toEqual(proposed);
  });
});
