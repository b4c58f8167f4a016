import { expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import { rebuilt } from '../recover.ts';
import { slotHold, stateSlots } from './slots.ts';

const SETTINGS = settingsWith({
  tracker: { inProgressState: 'doing', handoffState: 'review' },
  agent: { maxConcurrentAgents: 9, maxConcurrentAgentsByState: { doing: 1 } },
});

function dispatched(...states: readonly string[]): Player {
  const player = createPlayer(SETTINGS);
  player.poll(states.map((state, index) => issueWith({ id: String(index + 1), state })));
  return player;
}

it.each([
  ['issues that are all moved there', ['todo', 'todo', 'todo']],
  ['one to be moved there before one that is there', ['todo', 'doing']],
  ['one that is there before one to be moved there', ['doing', 'todo']],
])('the limit of the in-progress state holds within one poll: %s', (_, states) => {
  const player = dispatched(...states);
  expect([...player.state.live.keys()]).toEqual(['1']);
  expect(player.state.holds.get('2')).toMatchObject({ reason: 'no_state_slot', detail: 'all slots of state "doing" are taken' });
});

it('and for who only reads the records of a running service', () => {
  const { state, now } = dispatched('todo');
  const beside = rebuilt(SETTINGS, { ...NOTHING_DURABLE, claims: [...state.claims.values()] }, 'survey', now);
  expect(stateSlots(beside, 'doing')).toBe(0);
});

it('a run goes on counting for the in-progress state that it was begun with', () => {
  const player = dispatched('todo');
  const tracker = { ...SETTINGS.tracker, inProgressState: null };
  player.send({ type: 'settings-changed', settings: { ...SETTINGS, tracker } });
  expect(stateSlots(player.state, 'doing')).toBe(0);
});

it('one that works in the handoff state is not moved and asks for no slot there', () => {
  const player = dispatched('doing');
  expect(slotHold(player.state, 'review')).toBeNull();
  expect(slotHold(player.state, 'todo')?.reason).toBe('no_state_slot');
});
