import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { SCM, look, ok, OPEN, BASE, watching } from '../../../test/support/watched.ts';
import { snapshotOf } from '../views/snapshot.ts';
import type { HandoffOutcome } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Issue } from '../model/issue.ts';

const ISSUE = issueWith({ id: '1' });
const FAILED: Fault = { kind: 'turn_failed', message: 'broke', consequence: 'back-off' };

describe('what the last poll held, since it was running, is not held any more', () => {
  it.each<HandoffOutcome>([
    { kind: 'succeeded' },
    { kind: 'moved', state: 'backlog' },
    { kind: 'terminal', state: 'done' },
    { kind: 'gone' },
  ])('once its handoff is answered: $kind', (outcome) => {
    const player = held();
    player.exit('1');
    expect(reasons(player)).toEqual(['handing_off']);
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome });
    expect(player.state.claims.size).toBe(0);
    expect(reasons(player)).toEqual([]);
  });

  it.each<[string, Issue | null]>([
    ['is gone', null],
    ['moved on', issueWith({ id: '1', state: 'backlog' })],
    ['is finished', issueWith({ id: '1', state: 'done' })],
    ['is closed', issueWith({ id: '1', isClosed: true })],
  ])('once it %s before its next try', (_, issue) => {
    const player = held();
    player.exit('1', { kind: 'error', fault: FAILED });
    player.operator({ kind: 'retry', identifier: 'T-1' });
    expect(player.asked('read-issue')).toHaveLength(1);
    player.send({ type: 'issue-read', issueId: '1', issue: ok(issue) });
    expect(player.state.claims.size).toBe(0);
    expect(reasons(player)).toEqual([]);
  });

  it('also where the poll under way read it before its handoff', () => {
    const player = held();
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.exit('1');
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'succeeded' } });
    player.send({
      type: 'poll-answered',
      candidates: ok([ISSUE]),
      states: ok(new Map([['1', 'todo']])),
      preflightProblem: null,
    });
    expect(player.state.poll.inFlight).toBeNull();
    expect(reasons(player)).toEqual([]);
  });

  it('once its merge completed it', () => {
    const player = watching({ merge_completion: { ...BASE, targetState: 'done' } });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('todo') });
    expect(player.asked('complete')).toHaveLength(1);
    player.poll([ISSUE]);
    expect(reasons(player)).toEqual(['completing']);
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(reasons(player)).toEqual([]);
  });
});

it('one that moved to another active state waits for the next poll', () => {
  const player = held();
  player.exit('1', { scm: SCM });
  player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'moved', state: 'todo' } });
  expect(reasons(player)).toEqual(['next_poll']);
});

/** An issue that runs, and that a poll has found meanwhile. */
function held(): Player {
  const player = createPlayer();
  player.poll([ISSUE]);
  player.poll([ISSUE], { '1': 'todo' });
  expect(reasons(player)).toEqual(['running']);
  return player;
}

function reasons({ state, now }: Player): readonly string[] {
  return snapshotOf(state, now).holds.map(({ reason }) => reason);
}
