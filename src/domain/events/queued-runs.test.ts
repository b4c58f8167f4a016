import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { isRetired } from '../decide.ts';
import { failedExit } from '../model/event.ts';
import type { Settings } from '../model/settings.ts';

const CANCELLED = {
  ...failedExit({ kind: 'turn_cancelled', message: 'stopped: recalled', consequence: 'back-off' }),
  kind: 'cancelled',
} as const;
const PLACED = { type: 'workspace-chosen', issueId: '1', runId: 'run-1', workspacePath: '' } as const;

function queued(parts: Parameters<typeof settingsWith>[0] = {}): Player {
  const player = createPlayer(settingsWith({ ...parts, agent: { runOn: ['gpu'], ...parts.agent } }));
  player.poll([issueWith({ id: '1' })]);
  return player;
}

function withRunOn({ state }: Player, runOn: readonly string[] | null): Settings {
  return { ...state.settings, agent: { ...state.settings.agent, runOn } };
}

describe('an edit of agent.run_on', () => {
  it.each([
    ['taken out', null],
    ['another label', ['cpu']],
    ['no label', []],
  ])('has what no worker has yet begin anew, uncounted: %s', (_, runOn) => {
    const player = queued();
    const settings = withRunOn(player, runOn);
    player.send({ type: 'settings-changed', settings });
    expect(player.asked('stop-run')).toMatchObject([{ runId: 'run-1', reason: 'recalled' }]);
    player.exit('1', CANCELLED);
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', failures: 0, then: { trigger: 'restart' } });
    expect(player.state.spent.get('1')?.sessions).toBe(0);
    player.after(0);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    expect(player.asked('start-run')[0]?.plan.settings).toBe(settings);
  });

  it('leaves alone what a worker has, what runs here, and what waits for the same labels', () => {
    const placed = queued();
    placed.send({ ...PLACED, host: 'w1' });
    placed.send({ type: 'settings-changed', settings: withRunOn(placed, null) });
    const here = queued({ agent: { runOn: null } });
    here.send({ type: 'settings-changed', settings: withRunOn(here, []) });
    const same = queued();
    same.send({ type: 'settings-changed', settings: withRunOn(same, ['gpu']) });
    expect([placed, here, same].flatMap((player) => player.everAsked('stop-run'))).toEqual([]);
  });

  it('leaves what a person stopped as it is', () => {
    const player = queued();
    player.operator({ kind: 'stop', identifier: issueWith({ id: '1' }).identifier });
    player.send({ type: 'settings-changed', settings: withRunOn(player, null) });
    player.exit('1', CANCELLED);
    expect(player.state.parked.get('1')).toMatchObject({ reason: 'stopped_by_operator' });
  });
});

it('what no worker has yet does not begin after its tracker was left, and goes on when that is watched again', () => {
  const player = queued();
  const { settings } = player.state;
  player.send({ type: 'tracker-left' });
  expect(player.asked('stop-run')).toMatchObject([{ runId: 'run-1', reason: 'recalled' }]);
  player.exit('1', CANCELLED);
  expect(isRetired(player.state)).toBe(true);
  player.send({ type: 'settings-changed', settings });
  player.after(0);
  expect(player.everAsked('read-issue')).toMatchObject([{ issueId: '1' }]);
});

describe('an approval that is withdrawn', () => {
  const listed = (labels: readonly string[]) => issueWith({ id: '1', labels });
  const states = { '1': listed([]).state };

  function approvedRun(): Player {
    const player = createPlayer(settingsWith({ tracker: { approvalLabel: 'ok' }, agent: { runOn: [] } }));
    player.poll([listed(['ok'])]);
    const read = { ...listed(['ok']), approvable: { digest: 'a', labelling: '' } };
    player.send({ type: 'candidate-read', issueId: '1', issue: { ok: true, value: read } });
    expect(player.asked('start-run')[0]?.plan.issueAsRead).toBe(read);
    return player;
  }

  it('takes back what no worker has yet, which waits until it is approved', () => {
    const player = approvedRun();
    player.poll([listed([])], states);
    expect(player.everAsked('stop-run')).toMatchObject([{ runId: 'run-1', reason: 'recalled' }]);
    player.exit('1', CANCELLED);
    player.after(0);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: listed([]) } });
    const error = expect.stringMatching(/^not_approved: /) as string;
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', failures: 0, error });
    expect(player.everAsked('start-run')).toHaveLength(1);
  });

  it('leaves alone what a worker has, and what is approved still', () => {
    const placed = approvedRun();
    placed.send({ ...PLACED, host: 'w1' });
    placed.poll([listed([])], states);
    const kept = approvedRun();
    kept.poll([listed(['ok'])], states);
    expect([placed, kept].flatMap((player) => player.everAsked('stop-run'))).toEqual([]);
  });
});
