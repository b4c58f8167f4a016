import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';

const issue = issueWith({ id: '1', identifier: 'T-1' });
const other = issueWith({ id: '2', identifier: 'T-2' });

/** One session of an issue, from poll to handoff. */
function work(player: ReturnType<typeof createPlayer>): void {
  player.poll([issue]);
  player.exit('1');
  const [handoff] = player.asked('hand-off');
  const runId = handoff?.handoff.runId ?? '';
  player.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'succeeded' } });
}

describe('what issues have used up', () => {
  it('leaves the memory once the issue is handed off and gone from the polls', () => {
    const player = createPlayer();
    work(player);
    player.poll([other]);
    expect([...player.state.spent.keys()]).toEqual(['2']);
  });

  it('counts on where it was when people hand the issue back', () => {
    const player = createPlayer(settingsWith({ agent: { maxSessions: 2 } }));
    work(player);
    player.poll([]);
    work(player);
    player.poll([]);
    player.poll([issue]);
    expect(player.state.parked.get('1')).toMatchObject({ reason: 'session_budget' });
    player.poll([]);
    expect(player.state.spent.get('1')).toMatchObject({ sessions: 2 });
  });

  it('is known when the issue is read for a free slot, although a poll lost sight of it meanwhile', () => {
    const player = createPlayer();
    work(player);
    player.state = { ...player.state, pending: { 'read-candidate': new Map([['1', true]]) } };
    player.poll([]);
    player.send({ type: 'candidate-read', issueId: '1', issue: { ok: true, value: issue } });
    expect(player.state.spent.get('1')).toMatchObject({ sessions: 2 });
  });
});
