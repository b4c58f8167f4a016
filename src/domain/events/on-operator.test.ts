import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { recover } from '../recover.ts';
import { snapshotOf } from '../views/snapshot.ts';
import type { WaitingClaim } from '../model/claim.ts';
import type { Fault } from '../model/fault.ts';
import type { Durable } from '../model/durable.ts';
import type { IssueRequestKind, OperatorAnswer } from '../model/operator.ts';

const FAULT: Fault = { kind: 'turn_failed', message: 'agent: turn_failed: it broke', consequence: 'back-off' };
const ONE = issueWith({ id: '1' });

/** The places an issue may be in when somebody asks. */
const PLACES: Readonly<Record<string, () => Player>> = {
  running,
  stopping() {
    const player = running();
    player.operator({ kind: 'stop', identifier: 'T-1' });
    return player;
  },
  waiting() {
    const player = running();
    player.exit('1', { kind: 'error', fault: FAULT });
    return player;
  },
  handingOff() {
    const player = running();
    player.exit('1');
    return player;
  },
  handoffWaiting() {
    const player = running();
    player.exit('1');
    const runId = player.asked('hand-off')[0]?.handoff.runId ?? '';
    player.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'failed', fault: FAULT } });
    return player;
  },
  parked() {
    const player = running();
    player.operator({ kind: 'stop', identifier: 'T-1' });
    player.exit('1', { kind: 'cancelled' });
    return player;
  },
  held() {
    const player = createPlayer();
    player.operator({ kind: 'pause', reason: '' });
    player.poll([ONE]);
    player.operator({ kind: 'resume' });
    return player;
  },
  unknown: () => createPlayer(),
};

function running(): Player {
  const player = createPlayer();
  player.poll([ONE]);
  return player;
}

const TABLE: readonly [string, IssueRequestKind, OperatorAnswer['outcome'], string][] = [
  ['running', 'stop', 'taken', 'the session of T-1 is being ended and the issue is parked; "foray unpark T-1" lets it run again'],
  ['running', 'retry', 'refused', 'T-1 is running'],
  ['running', 'unpark', 'refused', 'T-1 is not parked'],
  [
    'stopping',
    'stop',
    'taken',
    'the session of T-1 is being ended and the issue is parked; "foray unpark T-1" lets it run again',
  ],
  ['stopping', 'retry', 'refused', 'the session of T-1 is still being ended (somebody stopped it): ask again when it is over'],
  ['stopping', 'unpark', 'refused', 'the session of T-1 is still being ended (somebody stopped it): ask again when it is over'],
  ['waiting', 'stop', 'taken', 'T-1 is parked; "foray unpark T-1" lets it run again'],
  ['waiting', 'retry', 'taken', 'T-1 is due now'],
  ['waiting', 'unpark', 'refused', 'T-1 is not parked'],
  ['handingOff', 'stop', 'refused', 'the session of T-1 has ended and it is being handed off'],
  ['handingOff', 'retry', 'refused', 'T-1 is being handed off'],
  ['handoffWaiting', 'stop', 'taken', 'T-1 is parked; "foray unpark T-1" lets it run again'],
  ['handoffWaiting', 'retry', 'taken', 'the handoff of T-1 is due now; no session is needed for it'],
  ['handoffWaiting', 'unpark', 'refused', 'T-1 is not parked'],
  ['parked', 'stop', 'refused', 'T-1 is already parked (stopped_by_operator)'],
  ['parked', 'retry', 'taken', 'T-1 is released'],
  ['parked', 'unpark', 'taken', 'T-1 is released'],
  ['held', 'stop', 'refused', 'T-1 is not running'],
  ['held', 'retry', 'refused', 'T-1 is neither waiting nor parked'],
  ['held', 'unpark', 'refused', 'T-1 is not parked'],
  ['unknown', 'stop', 'unknown', 'T-1 is not an issue this service knows'],
  ['unknown', 'retry', 'unknown', 'T-1 is not an issue this service knows'],
  ['unknown', 'unpark', 'unknown', 'T-1 is not an issue this service knows'],
];

describe('what a person asks of an issue', () => {
  it.each(TABLE)('%s, %s: %s', (place, kind, outcome, message) => {
    expect(PLACES[place]?.().operator({ kind, identifier: 'T-1' })).toEqual({ outcome, message });
  });

  it.each([
    ["it's 4", `'it'\\''s 4'`],
    ['-x', '-- -x'],
    ['-x 7', "-- '-x 7'"],
  ])('a command that it names can be pasted, also where the issue is called %s', (identifier, argument) => {
    const odd = createPlayer();
    odd.poll([issueWith({ id: '1', identifier })]);
    const { message } = odd.operator({ kind: 'stop', identifier });
    expect(message).toContain(`"foray unpark ${argument}" lets it run again`);
  });

  it('an issue that was worked on before is known, though it is in no place', () => {
    expect(createPlayer().operator({ kind: 'stop', identifier: 'T-1' }, true)).toMatchObject({ outcome: 'refused' });
  });

  it('is refused while the service is stopping', () => {
    const player = running();
    player.send({ type: 'stop-requested' });
    expect(player.operator({ kind: 'retry', identifier: 'T-1' })).toMatchObject({ outcome: 'refused' });
    expect(player.operator({ kind: 'pause', reason: '' })).toMatchObject({ outcome: 'refused' });
  });
});

describe('stop', () => {
  it('ends the session, then parks the issue for a person, also when the agent ended well', () => {
    const player = running();
    player.operator({ kind: 'stop', identifier: 't-1' });
    expect(player.asked('stop-run')).toMatchObject([{ runId: 'run-1', reason: 'operator' }]);
    player.exit('1');
    expect(player.state.parked.get('1')).toMatchObject({
      reason: 'stopped_by_operator',
      detail: 'stopped by an operator (somebody)',
    });
    expect(player.state.claims.size).toBe(0);
    player.poll([ONE]);
    expect(player.asked('start-run')).toEqual([]);
  });

  it('is shown with who asked until the session is over', () => {
    const player = running();
    const stopperShown = () => snapshotOf(player.state, player.now).running.map(({ stoppedBy }) => stoppedBy);
    expect(stopperShown()).toEqual([null]);
    player.operator({ kind: 'stop', identifier: 'T-1' });
    expect(stopperShown()).toEqual(['somebody']);
    player.poll([ONE]);
    expect(snapshotOf(player.state, player.now).holds).toMatchObject([
      { reason: 'running', detail: 'being stopped by somebody' },
    ]);
  });

  it('counts in history as cancelled, with its reason', () => {
    const player = running();
    player.operator({ kind: 'stop', identifier: 'T-1' });
    player.exit('1', { kind: 'cancelled' });
    expect(player.writes.find((write) => write.write === 'run')).toMatchObject({
      run: { status: 'cancelled', error: 'stopped by an operator (somebody)' },
    });
  });

  it('holds although the service dies before the session has ended', () => {
    const player = running();
    player.operator({ kind: 'stop', identifier: 'T-1' });
    const durable = durableOf(player);
    const { state } = recover(settingsWith(), durable, 'next', player.now);
    expect(state.parked.get('1')?.reason).toBe('stopped_by_operator');
    expect(state.claims.size).toBe(0);
  });
});

describe('retry', () => {
  it('makes a waiting issue due now', () => {
    const player = PLACES['waiting']?.() ?? running();
    player.operator({ kind: 'retry', identifier: 'T-1' });
    expect(player.asked('read-issue')).toEqual([{ do: 'read-issue', issueId: '1' }]);
  });

  describe('while its agent is paused', () => {
    const until = new Date(1_000_000 + 9_000_000).toISOString();
    const limited = (): Player => {
      const player = createPlayer();
      player.poll(['1', '2'].map((id) => issueWith({ id })));
      const fault: Fault = { kind: 'agent_usage_limit', message: 'limit', consequence: 'pause-agent' };
      for (const id of ['1', '2']) player.exit(id, { kind: 'error', fault: { ...fault, resetsAt: player.now + 9_000_000 } });
      player.poll([issueWith({ id: '3' })]);
      return player;
    };

    it('ends the pause, says so, and has everything due that waits for it', () => {
      const player = limited();
      expect(player.operator({ kind: 'retry', identifier: 'T-1' })).toEqual({
        outcome: 'taken',
        message: `T-1 is due now, and the agent mock is no longer paused (it was until ${until})`,
      });
      expect(player.writes).toContainEqual({ write: 'resume', agentKind: 'mock' });
      expect(player.told('agent:kind:resumed')).toMatchObject([{ facts: { agentKind: 'mock' } }]);
      player.after(0);
      expect(player.everAsked('read-issue').map(({ issueId }) => issueId)).toEqual(['1', '2']);
    });

    it('does the same for one that was never started', () => {
      const player = limited();
      expect(player.operator({ kind: 'retry', identifier: 'T-3' })).toEqual({
        outcome: 'taken',
        message: `T-3 is looked at now, and the agent mock is no longer paused (it was until ${until})`,
      });
      player.poll([issueWith({ id: '3' })]);
      expect(player.state.live.has('3')).toBe(true);
    });

    it('is what the release of a parked issue names', () => {
      const player = limited();
      player.operator({ kind: 'stop', identifier: 'T-1' });
      expect(player.operator({ kind: 'unpark', identifier: 'T-1' }).message).toBe(
        `T-1 is released, but the agent is paused until ${until}: "foray retry T-1" lets it try now`,
      );
    });

    it('is not needed once another agent is set, also where that was done between two services', () => {
      const other = settingsWith({ agent: { kind: 'codex' } });
      const player = limited();
      const restarted = recover(other, durableOf(player), 'next', player.now).state;
      player.send({ type: 'settings-changed', settings: other });
      for (const state of [player.state, restarted])
        expect([...state.claims.values()]).toMatchObject([{ dueAt: player.now }, { dueAt: player.now }]);
    });
  });
});

describe('pause', () => {
  it('keeps no handoff back, and a retry of one does not say so', () => {
    const player = PLACES['handoffWaiting']?.() ?? running();
    player.operator({ kind: 'pause', reason: 'release day' });
    const answer = player.operator({ kind: 'retry', identifier: 'T-1' });
    expect(answer.message).toBe('the handoff of T-1 is due now; no session is needed for it');
    player.after(0);
    expect(player.asked('hand-off')).toHaveLength(1);
  });

  it('holds candidates and retries until it is lifted, with its reason, and stops nothing', () => {
    const player = PLACES['waiting']?.() ?? running();
    player.operator({ kind: 'pause', reason: 'release day' });
    player.poll([issueWith({ id: '2' })]);
    expect(player.asked('start-run')).toEqual([]);
    expect(player.state.holds.get('2')).toMatchObject({
      reason: 'paused',
      detail: 'paused by an operator (somebody): release day',
    });
    player.after(3_600_000);
    expect(player.asked('read-issue')).toEqual([]);
    expect(player.operator({ kind: 'resume' })).toMatchObject({ outcome: 'taken' });
    expect(player.asked('read-issue')).toHaveLength(1);
    player.poll([issueWith({ id: '2' })]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('is what holds a retry from the moment on that its time has come', () => {
    const player = PLACES['waiting']?.() ?? running();
    player.operator({ kind: 'pause', reason: 'release day' });
    player.poll([issueWith({ id: '1' })]);
    const { dueAt } = player.state.claims.get('1') as WaitingClaim;
    const shownAt = (now: number) => snapshotOf(player.state, now).holds.map(({ reason, detail }) => [reason, detail]);
    expect(shownAt(dueAt - 1)).toEqual([['retrying', expect.any(String)]]);
    expect(shownAt(dueAt)).toEqual([['paused', 'paused by an operator (somebody): release day']]);
    player.now = dueAt;
    player.poll([issueWith({ id: '1' })]);
    expect(player.state.holds.get('1')?.reason).toBe('paused');
    expect(player.asked('start-run')).toEqual([]);
  });

  it('may be asked for again; the last reason counts and the first moment', () => {
    const player = createPlayer();
    player.operator({ kind: 'pause', reason: 'one' });
    const since = player.now;
    player.after(5_000);
    expect(player.operator({ kind: 'pause', reason: 'two' })).toMatchObject({ outcome: 'taken' });
    expect(player.state.operatorPause).toEqual({ reason: 'two', by: 'somebody', since });
    expect(player.writes).toContainEqual({ write: 'operator-pause', pause: player.state.operatorPause });
  });
});

function durableOf({ state }: Player): Durable {
  return {
    claims: [...state.claims.values()],
    parked: [...state.parked.values()],
    outbox: [...state.outbox.values()],
    workspaces: [...state.workspaces.values()],
    spent: [...state.spent.values()],
    pauses: [...state.pauses.values()],
    watches: [...state.watches.values()],
    approvals: [...state.approvals.values()],
    operatorPause: state.operatorPause,
    told: [...state.told.values()],
  };
}

/** A new leader takes over a run that may go on elsewhere for forty seconds. */
const OVER_AT = new Date(1_040_000).toISOString();
const RESERVE = `, but its last session may go on elsewhere until ${OVER_AT}, so it does not start before`;

describe('an issue whose last session may go on elsewhere', () => {
  function takenOver(before: Player = running()): Player {
    const player = createPlayer();
    const elsewhere = { delayMs: 40_000, endingElsewhere: new Map() };
    player.state = recover(settingsWith(), durableOf(before), 'next', player.now, elsewhere).state;
    return player;
  }

  /** It starts when its session is surely over, and at no moment before. */
  function expectNoStartBefore(player: Player, restMs = 40_000): void {
    player.poll([ONE]);
    player.after(1_000_000 + restMs - 1 - player.now);
    expect([...player.everAsked('start-run'), ...player.everAsked('read-issue')]).toEqual([]);
    player.after(1);
    player.poll([ONE]);
    expect([...player.everAsked('start-run'), ...player.everAsked('read-issue')]).toHaveLength(1);
  }

  it('is not started earlier by a retry, which says when and why', () => {
    const player = takenOver();
    const message = `T-1 is due now${RESERVE}`;
    expect(player.operator({ kind: 'retry', identifier: 'T-1' })).toEqual({ outcome: 'taken', message });
    player.poll([ONE]);
    expect(player.state.holds.get('1')).toMatchObject({
      reason: 'ending_elsewhere',
      detail: `its last session may go on elsewhere until ${OVER_AT}`,
    });
    expectNoStartBefore(player);
  });

  it('is not started earlier by a stop and an unpark', () => {
    const player = takenOver();
    player.operator({ kind: 'stop', identifier: 'T-1' });
    const message = `T-1 is released${RESERVE}`;
    expect(player.operator({ kind: 'unpark', identifier: 'T-1' })).toEqual({ outcome: 'taken', message });
    expectNoStartBefore(player);
  });

  it('is not started earlier by an unpark where it was told to stop under the leader before', () => {
    const before = running();
    before.operator({ kind: 'stop', identifier: 'T-1' });
    const player = takenOver(before);
    player.operator({ kind: 'unpark', identifier: 'T-1' });
    expectNoStartBefore(player);
  });

  it('is not started earlier by an edit of the workflow file', () => {
    const player = takenOver();
    player.state = { ...player.state, settings: settingsWith({ agent: { maxRetryBackoffMs: 1_000 } }) };
    player.send({ type: 'settings-changed', settings: settingsWith() });
    expectNoStartBefore(player);
  });

  it('is not started earlier where it left the active states and came back', () => {
    const player = takenOver();
    player.poll([], { '1': 'backlog' });
    expectNoStartBefore(player);
  });

  it('waits as long when the clock is set', () => {
    const player = takenOver();
    player.operator({ kind: 'stop', identifier: 'T-1' });
    player.now += 3_600_000;
    player.send({ type: 'clock-jumped', byMs: 3_600_000 });
    player.operator({ kind: 'unpark', identifier: 'T-1' });
    expectNoStartBefore(player, 3_640_000);
  });

  it('waits where the leader that took it over ended before it could store so', () => {
    const player = createPlayer();
    const elsewhere = { delayMs: 0, endingElsewhere: new Map([['1', 1_040_000]]) };
    player.state = recover(settingsWith(), durableOf(running()), 'next', player.now, elsewhere).state;
    expectNoStartBefore(player);
  });

  it('waits on under a leader that starts again, also where it was made due meanwhile', () => {
    const before = takenOver();
    const claim = before.state.claims.get('1') as WaitingClaim;
    const durable = { ...durableOf(before), claims: [{ ...claim, dueAt: 0 }] };
    const player = createPlayer();
    const elsewhere = { delayMs: 0, endingElsewhere: new Map([['1', 1_040_000]]) };
    player.state = recover(settingsWith(), durable, 'again', player.now, elsewhere).state;
    expectNoStartBefore(player);
  });
});
