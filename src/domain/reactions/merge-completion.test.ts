import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import { BASE, OPEN, FAULT, ok, watching, look, answerLook, progress } from '../../../test/support/watched.ts';

describe('merge_completion', () => {
  const mergeCompletion = { ...BASE, targetState: 'done' };

  it('moves the issue once the request is merged, by whomever, and cleans up', () => {
    const player = watching({ merge_completion: mergeCompletion });
    look(player, {});
    expect(player.asked('complete')).toHaveLength(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.everTold('reaction:check:completed').map(({ facts }) => facts)).toMatchObject([
      { kind: 'merge_completion', result: 'waiting' },
      { kind: 'merge_completion', result: 'merged' },
    ]);
    expect(player.asked('complete')[0]?.target).toBe('done');
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
    expect(player.asked('remove-workspace')).toHaveLength(1);
  });

  it('moves an issue that the merge closed, whichever of the two was read first', () => {
    const player = watching({ merge_completion: mergeCompletion });
    look(player, { issueClosed: ok(true) });
    expect(player.asked('complete')).toHaveLength(0);
    look(player, { issueClosed: ok(true), merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toMatchObject([{ target: 'done' }]);
  });

  it('finishes a completion that got half way, where the state alone looks done', () => {
    const player = watching({ merge_completion: { ...mergeCompletion, budget: 2 } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toMatchObject([{ begun: false }]);
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    player.send({ type: 'cleanup-answered', issues: ok([issueWith({ id: '1', state: 'done' })]) });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.asked('complete')).toMatchObject([{ begun: true }]);
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
  });

  it('leaves an issue alone that a person ended otherwise meanwhile', () => {
    const player = watching({ merge_completion: { ...mergeCompletion, targetState: 'shipped' } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.asked('complete')).toHaveLength(0);
    expect(player.state.watches.size).toBe(0);
  });

  it('asks a person once and then waits', () => {
    const player = watching({ merge_completion: mergeCompletion });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind: 'tracker_auth_error' } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toHaveLength(0);
    expect(progress(player, 'merge_completion')?.waitingFor).toBe('a person: no answer');
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
  });

  it.each([
    ['tracker_auth_error', 'back-off-at-cap', 'escalated'],
    ['tracker_payload_error', 'back-off-at-cap', 'escalated'],
    // A file that somebody is just saving.
    ['tracker_payload_error', 'back-off', 'again'],
    ['tracker_not_found', 'back-off-at-cap', 'ended'],
    ['tracker_transport_error', 'back-off', 'again'],
  ] as const)('%s with %s', (kind, consequence, then) => {
    const player = watching({ merge_completion: { ...mergeCompletion, budget: 2 } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind, consequence } });
    const state =
      player.state.watches.size === 0 ? 'ended' : progress(player, 'merge_completion')?.escalated ? 'escalated' : 'again';
    expect(state).toBe(then);
  });

  it('tries again after an answer that came as rubbish: the move may be done', () => {
    const player = watching({ merge_completion: { ...mergeCompletion, budget: 2 } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    const fault = { ...FAULT, kind: 'tracker_payload_error', isGarbled: true } as const;
    player.send({ type: 'completion-answered', issueId: '1', fault });
    expect(progress(player, 'merge_completion')?.escalated).toBe(false);
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
  });

  it.each([
    [0, 1],
    [1, 2],
    [2, 3],
  ])('max_retries %i asks a person after %i failures', (budget, failures) => {
    const player = watching({ merge_completion: { ...mergeCompletion, budget } });
    for (let tries = 1; tries <= failures; tries += 1) {
      expect(progress(player, 'merge_completion')?.escalated).toBe(false);
      look(player, { merge: ok({ ...OPEN, merged: true }) });
      player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    }
    expect(progress(player, 'merge_completion')?.escalated).toBe(true);
  });
});

describe('an issue whose completion is half written', () => {
  const MERGED = ok({ ...OPEN, merged: true });
  /** Where labels are states, the old one is gone and the last one is not there yet. */
  const HALF = issueWith({ id: '1', state: 'todo' });
  const REFUSED = { ...FAULT, kind: 'tracker_auth_error' } as const;

  function completing(): Player {
    const player = watching({ merge_completion: { ...BASE, targetState: 'done' } });
    look(player, { merge: MERGED });
    expect(player.asked('complete')).toHaveLength(1);
    return player;
  }

  /** Answers the look that is under way. */
  function answerLast(player: Player, issueState: string): void {
    player.after(0);
    const effect = player.everAsked('inspect').at(-1);
    if (effect) answerLook(player, effect, { merge: MERGED, issueState: ok(issueState) });
  }

  function heldFor(player: Player, issue = HALF): string | undefined {
    player.poll([issue]);
    expect(player.asked('start-run')).toHaveLength(0);
    return player.state.holds.get('1')?.reason;
  }

  it('is not worked on again', () => {
    const player = completing();
    expect(heldFor(player)).toBe('completing');
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    expect(heldFor(player)).toBe('completing');
  });

  it('is not worked on again after the service was killed between the two writes', () => {
    const { state } = completing();
    const player = createPlayer(state.settings, { ...NOTHING_DURABLE, watches: [...state.watches.values()] });
    expect(heldFor(player)).toBe('completing');
    look(player, { merge: MERGED, issueState: ok('todo') });
    expect(player.asked('complete')).toMatchObject([{ begun: true }]);
  });

  it('is not started by a poll that was under way when the move ended', () => {
    const player = completing();
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    player.send({
      type: 'workspace-removed',
      issueId: '1',
      identifier: 'T-1',
      path: '',
      why: '',
      aside: null,
      outcome: ok(true),
    });
    player.send({ type: 'poll-answered', candidates: ok([HALF]), states: ok(new Map()), preflightProblem: null });
    expect(player.asked('start-run')).toHaveLength(0);
    expect(player.state.holds.has('1')).toBe(false);
  });

  it('waits for a person where the move failed for good, until its state is another one', () => {
    const player = completing();
    player.send({ type: 'completion-answered', issueId: '1', fault: REFUSED });
    expect(heldFor(player)).toBe('parked');
    answerLast(player, 'todo');
    expect(heldFor(player)).toBe('parked');
    expect(player.state.holds.get('1')?.detail).toContain('escalated: ');
    player.poll([issueWith({ id: '1', state: 'doing' })]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('may be put back into the state that the move left, by way of another one', () => {
    const player = completing();
    player.send({ type: 'completion-answered', issueId: '1', fault: REFUSED });
    answerLast(player, 'todo');
    player.after(10_000);
    answerLast(player, 'review');
    player.poll([HALF]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('is held while a person has the move tried again', () => {
    const player = completing();
    player.send({ type: 'completion-answered', issueId: '1', fault: REFUSED });
    answerLast(player, 'todo');
    expect(player.operator({ kind: 'unpark', identifier: 'T-1' })).toMatchObject({ outcome: 'taken' });
    expect(heldFor(player)).toBe('completing');
    answerLast(player, 'todo');
    expect(player.everAsked('complete')).toHaveLength(2);
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
  });

  it('runs again where nobody will finish the move any more', () => {
    const player = completing();
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    const { settings } = player.state;
    player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, on: {} } } });
    player.poll([HALF]);
    expect(player.asked('start-run')).toHaveLength(1);
  });
});
