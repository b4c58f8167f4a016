import { describe, expect, it } from 'vitest';
import { issueWith } from '../../../test/support/issues.ts';
import { BASE, OPEN, FAULT, ok, watching, look, progress } from '../../../test/support/watched.ts';

describe('merge_completion', () => {
  const mergeCompletion = { ...BASE, targetState: 'done' };

  it('moves the issue once the request is merged, by whomever, and cleans up', () => {
    const player = watching({ merge_completion: mergeCompletion });
    look(player, {});
    expect(player.asked('complete')).toHaveLength(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')[0]?.target).toBe('done');
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
    expect(player.asked('remove-workspace')).toHaveLength(1);
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
    expect(progress(player, 'merge_completion')?.waitingFor).toBe('a person');
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
  });

  it.each([
    ['tracker_auth_error', 'escalated'],
    ['tracker_payload_error', 'escalated'],
    ['tracker_not_found', 'ended'],
    ['tracker_transport_error', 'again'],
  ])('%s', (kind, then) => {
    const player = watching({ merge_completion: { ...mergeCompletion, budget: 2 } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind } });
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
