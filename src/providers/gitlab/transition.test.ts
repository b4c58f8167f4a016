import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameState, stateIn } from '../../domain/model/issue.ts';
import { derivedState, stateRule } from './map.ts';
import type { IssueUpdate, Target } from './transition.ts';
import { planTransition, targetOf } from './transition.ts';

const STATES = { active: ['backlog', 'In-Progress'], terminal: ['done', 'wontfix'], handoff: 'human-review' };

describe('targets', () => {
  it.each<[state: string, target: Target | undefined]>([
    ['backlog', { state: 'backlog', role: 'active' }],
    ['IN-progress', { state: 'In-Progress', role: 'active' }],
    ['Done', { state: 'done', role: 'terminal' }],
    [' human-review ', { state: 'human-review', role: 'handoff' }],
    ['deployed', undefined],
    ['', undefined],
  ])('%j', (state, target) => {
    expect(targetOf(state, STATES)).toEqual(target);
  });

  it('there is none without a handoff state', () => {
    expect(targetOf('human-review', { ...STATES, handoff: null })).toBeUndefined();
  });
});

describe('plans', () => {
  type Row = [row: string, target: { role: Target['role']; label: string }, native: 'opened' | 'closed', labels: string[], plan: IssueUpdate | null]; // prettier-ignore
  const to = (role: Target['role'], label: string) => ({ role, label });
  it.each<Row>([
    ['terminal state, issue open', to('terminal', 'done'), 'opened', ['backlog', 'bug'], { state_event: 'close', add_labels: 'done', remove_labels: 'backlog' }], // prettier-ignore
    ['terminal state, issue closed', to('terminal', 'done'), 'closed', ['backlog'], { add_labels: 'done', remove_labels: 'backlog' }], // prettier-ignore
    ['active state, issue closed', to('active', 'backlog'), 'closed', ['done'], { state_event: 'reopen', add_labels: 'backlog', remove_labels: 'done' }], // prettier-ignore
    ['active state, issue open', to('active', 'In-Progress'), 'opened', ['backlog'], { add_labels: 'In-Progress', remove_labels: 'backlog' }], // prettier-ignore
    ['handoff state, issue open', to('handoff', 'human-review'), 'opened', ['In-Progress'], { add_labels: 'human-review', remove_labels: 'In-Progress' }], // prettier-ignore
    ['handoff state, issue closed: native state untouched', to('handoff', 'human-review'), 'closed', [], { add_labels: 'human-review' }], // prettier-ignore
    ['already converged, terminal', to('terminal', 'done'), 'closed', ['bug', 'done'], null],
    ['already converged, active', to('active', 'backlog'), 'opened', ['backlog'], null],
    ['already converged, handoff', to('handoff', 'human-review'), 'closed', ['human-review'], null],
    ['only the native state is missing', to('terminal', 'done'), 'opened', ['done'], { state_event: 'close' }],
    ['every case variant of the outgoing labels goes', to('active', 'backlog'), 'opened', ['Done', 'done', 'WONTFIX'], { add_labels: 'backlog', remove_labels: 'Done,done,WONTFIX' }], // prettier-ignore
    ['variants of the incoming label go too', to('terminal', 'Done'), 'closed', ['done', 'DONE'], { add_labels: 'Done', remove_labels: 'done,DONE' }], // prettier-ignore
    ['the stored spelling is never removed', to('terminal', 'Done'), 'closed', ['Done', 'done'], { remove_labels: 'done' }],
    ['no label to take away', to('active', 'backlog'), 'opened', ['bug'], { add_labels: 'backlog' }],
  ])('%s', (_, target, native, labels, plan) => {
    expect(planTransition({ iid: 1, state: native, labels }, target, STATES)).toEqual(plan);
  });
});

it('one plan always leads to the target and leaves every other label alone', () => {
  const name = fc.constantFrom('backlog', 'Backlog', 'In-Progress', 'in-progress', 'done', 'Done', 'human-review', 'bug', 'UI');
  const target = fc.constantFrom('backlog', 'in-progress', 'done', 'wontfix', 'human-review');
  fc.assert(
    fc.property(fc.uniqueArray(name), fc.constantFrom('opened', 'closed'), target, (labels, native, wanted) => {
      const { state, role } = targetOf(wanted, STATES)!;
      const plan = planTransition({ iid: 1, state: native, labels }, { role, label: state }, STATES);
      const after = applied(labels, native, plan);
      expect(planTransition(after, { role, label: state }, STATES)).toBeNull();
      expect(derivedState(after, stateRule(STATES))).toMatchObject({ state, matches: [state] });
      const others = (list: readonly string[]) => list.filter((label) => !stateIn(['bug', 'ui'], label));
      expect(others(after.labels)).toEqual([state]);
      expect(after.labels.filter((label) => !sameState(label, state))).toEqual(
        labels.filter((label) => stateIn(['bug', 'ui'], label)),
      );
    }),
  );
});

// As the remote does it: removal wins.
function applied(labels: readonly string[], native: string, plan: IssueUpdate | null) {
  const removed = plan?.remove_labels?.split(',') ?? [];
  const added = plan?.add_labels === undefined ? [] : [plan.add_labels];
  const state = plan?.state_event === 'close' ? 'closed' : plan?.state_event === 'reopen' ? 'opened' : native;
  return { iid: 1, state, labels: [...labels, ...added].filter((label) => !removed.includes(label)) };
}
