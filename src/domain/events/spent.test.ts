import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';

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

describe('agent.max_sessions: 1', () => {
  const settings = settingsWith({ agent: { maxSessions: 1 } });
  const LIMIT = { kind: 'agent_usage_limit', message: 'agent: agent_usage_limit: used up', consequence: 'pause-agent' } as const;

  function running() {
    const player = createPlayer(settings);
    player.poll([issue]);
    return player;
  }

  /** The records as a service finds them that starts next. */
  function restarted({ state }: ReturnType<typeof createPlayer>) {
    const durable = { ...NOTHING_DURABLE, claims: [...state.claims.values()], spent: [...state.spent.values()] };
    return createPlayer(settings, durable);
  }

  function goOn(player: ReturnType<typeof createPlayer>, ms = 1_000): void {
    player.after(ms);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issue } });
  }

  it('lets a run go on that a stop of the service cut short', () => {
    const before = running();
    before.send({ type: 'stop-requested' });
    before.exit('1', { kind: 'cancelled' });
    const after = restarted(before);
    goOn(after);
    expect(after.asked('start-run')).toHaveLength(1);
  });

  it('lets a run go on that died with the service', () => {
    const after = restarted(restarted(running()));
    goOn(after);
    expect(after.asked('start-run')).toHaveLength(1);
    expect(after.state.spent.get('1')).toMatchObject({ sessions: 1 });
  });

  it('parks one that dies with the service again and again', () => {
    const after = restarted(running());
    goOn(after);
    const again = restarted(after);
    goOn(again);
    expect(again.asked('start-run')).toHaveLength(0);
    expect(again.state.parked.get('1')).toMatchObject({ reason: 'session_budget' });
  });

  it('lets a run go on that met a usage limit', () => {
    const player = running();
    player.exit('1', { kind: 'error', fault: LIMIT });
    goOn(player, 15 * 60_000);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('parks what failed otherwise', () => {
    const player = running();
    player.exit('1', { kind: 'error', fault: { ...LIMIT, kind: 'turn_failed', consequence: 'back-off' } });
    goOn(player, 15 * 60_000);
    expect(player.state.parked.get('1')).toMatchObject({ reason: 'session_budget' });
  });
});
