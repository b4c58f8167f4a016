import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import { refOf } from '../model/issue.ts';
import { nextWake } from './on-clock.ts';

const HOUR = 3_600_000;
const fault = { kind: 'turn_failed', message: 'it failed', consequence: 'back-off' } as const;

describe('the wall clock is set', () => {
  it.each([-HOUR, HOUR])('by %i ms: polls and retries keep their distance, and a turn goes on', (byMs) => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    const runId = player.state.live.get('1')?.runId ?? '';
    player.send({ type: 'turn-started', issueId: '1', runId, turn: 1 });
    player.exit('2', { kind: 'error', fault });
    const [wait, poll] = [waitOf('2') - player.now, player.state.poll.nextAt - player.now];
    player.now += byMs;
    player.send({ type: 'clock-jumped', byMs });
    expect(waitOf('2') - player.now).toBe(wait);
    expect(player.state.poll.nextAt - player.now).toBe(poll);
    expect(nextWake(player.state) - player.now).toBeLessThanOrEqual(wait);
    player.after(1);
    expect(player.asked('stop-run')).toEqual([]);

    function waitOf(id: string): number {
      const claim = player.state.claims.get(id);
      return claim?.phase === 'waiting' ? claim.dueAt : NaN;
    }
  });

  it('not at all, but the process did not run for an hour: a turn goes on, and what fell due is due', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    const runId = player.state.live.get('1')?.runId ?? '';
    player.send({ type: 'turn-started', issueId: '1', runId, turn: 1 });
    player.now += HOUR;
    player.send({ type: 'woke-late', byMs: HOUR });
    player.after(1);
    expect(player.asked('stop-run')).toEqual([]);
    expect(player.asked('poll')).toHaveLength(1);
    player.after(HOUR);
    expect(player.asked('stop-run')).toHaveLength(1);
  });

  it('while the daemon was down: a stored due time is at most its own delay away', () => {
    const issue = refOf(issueWith({ id: '1' }));
    const base = { phase: 'waiting', attempt: 1, failures: 1, refusals: 0, sessionId: null, error: 'it failed' } as const;
    const then = { kind: 'run', trigger: 'error', reaction: null } as const;
    const claim = { ...base, issue, since: 1_000_000 + HOUR, dueAt: 1_000_000 + HOUR + 10_000, then };
    const player = createPlayer(settingsWith(), { ...NOTHING_DURABLE, claims: [claim] });
    expect(player.state.claims.get('1')).toMatchObject({ dueAt: 1_000_000 + 10_000 });
    expect(player.writes).toContainEqual({ write: 'claim', claim: player.state.claims.get('1') });
  });

  describe('while the daemon was down and an agent rested', () => {
    const NOW = 1_000_000;
    const TEN_YEARS = 10 * 365 * 24 * HOUR;
    const base = { phase: 'waiting', attempt: 1, failures: 0, refusals: 0, sessionId: 's', error: 'used up' } as const;
    const then = { kind: 'run', trigger: 'error', reaction: null } as const;
    const claimOf = (id: string, since: number, dueAt: number) =>
      ({ ...base, issue: refOf(issueWith({ id })), since, dueAt, then }) as const;
    const restarted = (until: number, ...claims: readonly ReturnType<typeof claimOf>[]) =>
      createPlayer(settingsWith(), { ...NOTHING_DURABLE, claims, pauses: [{ agentKind: 'mock', until, reason: 'used up' }] });

    it.each([24 * HOUR, TEN_YEARS])('with the clock %i ms ahead: it rests no longer than was left of its limit', (ahead) => {
      const until = NOW + ahead + 60_000;
      const waiting = [claimOf('1', NOW + ahead, until), claimOf('2', NOW + ahead + 20_000, until)] as const;
      const { state, writes } = restarted(until, ...waiting);
      expect(state.pauses.get('mock')?.until).toBe(NOW + 40_000);
      expect([...state.claims.values()].map((claim) => 'dueAt' in claim && claim.dueAt)).toEqual([NOW + 40_000, NOW + 40_000]);
      expect(writes).toContainEqual({ write: 'pause', pause: state.pauses.get('mock') });
    });

    it('by a clock that is right: it rests on', () => {
      const until = NOW + 60_000;
      const { state } = restarted(until, claimOf('1', NOW - 60_000, until));
      expect(state.pauses.get('mock')?.until).toBe(until);
      expect(state.claims.get('1')).toMatchObject({ dueAt: until });
    });

    it.each([
      ['an end that no provider names is not believed', TEN_YEARS, 15 * 60_000],
      ['one that a provider may name is', 7 * 24 * HOUR, 7 * 24 * HOUR],
    ])('where no run waits for it, %s', (_name, told, expected) => {
      expect(restarted(NOW + told).state.pauses.get('mock')?.until).toBe(NOW + expected);
    });
  });
});
