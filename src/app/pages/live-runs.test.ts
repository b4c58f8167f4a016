import { expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { aRun } from '../../../test/support/fake-daemon.ts';
import { issueWith } from '../../../test/support/issues.ts';
import type { RunEvent } from '../../domain/model/run.ts';
import { findLiveRun } from './live-runs.ts';

const event = (runId: string, at: number, text: string): RunEvent => ({ runId, at, type: 'message', text });

/** A session that said three things, of which so many are stored. */
async function eventsSeen(stored: number): Promise<readonly string[]> {
  const player = createPlayer();
  player.poll([issueWith({ id: '1' })]);
  const [live] = player.state.live.values();
  if (live === undefined) throw new Error('nothing runs');
  const said = ['one', 'two', 'three'].map((text, index) => event(live.runId, 10 + index, text));
  const state = { ...player.state, live: new Map([['1', { ...live, unsavedEvents: said.slice(1) }]]) };
  const store = { findRun: async (id: string) => ({ run: aRun(id), events: said.slice(0, stored) }) };
  const found = await findLiveRun(store, () => [state])(live.runId);
  return found?.events.map(({ text }) => text) ?? [];
}

it('what a session said since it was last stored is there too', async () => {
  expect(await eventsSeen(1)).toEqual(['one', 'two', 'three']);
});

it('nothing is there twice when a save came in between', async () => {
  expect(await eventsSeen(2)).toEqual(['one', 'two', 'three']);
  expect(await eventsSeen(3)).toEqual(['one', 'two', 'three']);
});

it('a run that nobody knows stays unknown', async () => {
  expect(await findLiveRun({ findRun: async () => null }, () => [])('r-1')).toBeNull();
});
