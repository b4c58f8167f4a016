import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { Tracker } from '../ports/tracker.ts';
import { createWholeMoves } from './whole-moves.ts';

/** A tracker that answers nothing, and the moves through it. */
function setUp() {
  const [run, service] = [new AbortController(), new AbortController()];
  let begun = 0;
  const transitionIssue: Tracker['transitionIssue'] = async (_id, _state, signal) => {
    begun += 1;
    await once(signal, 'abort');
    signal.throwIfAborted();
  };
  const moves = createWholeMoves({ transitionIssue } as Partial<Tracker> as Tracker, service.signal);
  return { run, service, moves, begun: () => begun, move: () => moves.tracker.transitionIssue('1', 'doing', run.signal) };
}

it('a move that was begun ends with the service, not with its run', async () => {
  const { run, service, moves, move } = setUp();
  const moved = expect(move()).rejects.toThrow('killed');
  run.abort(new Error('stopped'));
  expect(moves.isMoving()).toBe(true);
  service.abort(new Error('killed'));
  await moves.settled();
  await moved;
  expect(moves.isMoving()).toBe(false);
});

it('no move is begun for a run that is over', async () => {
  const { run, moves, begun, move } = setUp();
  run.abort(new Error('stopped'));
  await expect(move()).rejects.toThrow('stopped');
  expect([begun(), moves.isMoving()]).toEqual([0, false]);
});
