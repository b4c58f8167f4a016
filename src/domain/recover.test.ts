import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../test/support/core.ts';
import { issueWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { NOTHING_DURABLE } from './model/durable.ts';
import type { Fault } from './model/fault.ts';
import type { Settings } from './model/settings.ts';

const FAULT: Fault = { kind: 'tracker_transport_error', message: 'status 502', consequence: 'back-off' };

/** A service that handed off, was cut short and starts again with other settings. */
function restarted(tracker: Partial<Settings['tracker']>, { isAnswered, target = 'review' }: Cut) {
  const before = createPlayer(settingsWith({ tracker: { handoffState: target } }));
  before.poll([issueWith({ id: '1' })]);
  before.exit('1');
  const runId = before.asked('hand-off')[0]?.handoff.runId ?? '';
  if (isAnswered) before.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'failed', fault: FAULT } });
  const player = createPlayer(settingsWith({ tracker }), { ...NOTHING_DURABLE, claims: [...before.state.claims.values()] });
  const { writes } = player;
  player.after(60_000);
  return { player, writes };
}

interface Cut {
  /** Whether the tracker had refused the handoff by then, so that it waits. */
  readonly isAnswered: boolean;
  readonly target?: string;
}

describe.each([
  ['that waits', true],
  ['that is under way', false],
])('a handoff %s at a restart', (_, isAnswered) => {
  it.each([
    ['goes on to its state', { handoffState: 'review' }, 'review', 'review'],
    ['goes to the handoff state that is configured by now', { handoffState: 'qa' }, 'review', 'qa'],
    ['goes on to the state of runs without changes', { handoffState: 'qa', noChangeState: 'Checked' }, 'checked', 'checked'],
  ])('%s', (_name, tracker, target, expected) => {
    const { player, writes } = restarted(tracker, { isAnswered, target });
    expect(player.everAsked('hand-off')).toMatchObject([{ handoff: { target: expected } }]);
    if (expected !== target) expect(JSON.stringify(writes)).toContain(expected);
  });

  it('is worked on where no handoff state is configured any more', () => {
    const { player } = restarted({ handoffState: null }, { isAnswered });
    expect(player.everAsked('hand-off')).toEqual([]);
    expect(player.everAsked('read-issue')).toEqual([{ do: 'read-issue', issueId: '1' }]);
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'continuation' } });
  });
});
