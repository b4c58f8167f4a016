import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogRecorder } from '../../../../test/support/workspaces.ts';
import { WORKER_CUT_OFF_MS } from '../../../domain/model/lease-times.ts';
import type { RunMessage, WorkerNews } from '../../../ports/run-queue.ts';
import { StoreError } from '../../../store/errors.ts';
import { createHeartbeat } from './heartbeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A worker with one run, and a database that can be out of reach. */
function setUp() {
  const state = {
    isCut: false,
    given: new Set(['r-1']),
    held: new Set(['r-1']),
    lost: [] as string[],
    missed: [] as string[],
    mute: [] as string[],
    refuses: false,
  };
  const said: { runId: string; messages: readonly RunMessage[] }[] = [];
  const connection = {
    beat: (): Promise<WorkerNews> =>
      state.isCut
        ? new Promise<never>(() => {})
        : Promise.resolve({ refused: null, runs: new Map([...state.given].map((id) => [id, null])) }),
    say: async (runId: string, _number: number, messages: readonly RunMessage[]) => {
      if (state.refuses) throw new StoreError({ path: 'db', kind: 'unwritable', what: 'lacks a right', remedy: 'grant it' });
      said.push({ runId, messages });
      return true;
    },
  };
  const held = {
    ids: () => state.held.keys(),
    notBegun: (given: Iterable<string>) => [...given].filter((id) => !state.held.has(id)),
    stop: () => {},
    lose(id: string) {
      state.lost.push(id);
      state.held.delete(id);
    },
  };
  const heart = createHeartbeat({
    connection,
    logger: createLogRecorder(),
    held,
    onMissed: (runId) => state.missed.push(runId),
    onMute: (error) => state.mute.push(String(error)),
    stateNow: () => ({ load: 0, draining: false }),
  });
  return { state, said, heart };
}

describe('a worker that cannot reach the database', () => {
  it('gives its runs up after 20 seconds although its question hangs, and says so when it is back', async () => {
    const { state, said, heart } = setUp();
    const over = new AbortController();
    await heart.beat();
    state.isCut = true;
    void heart.beatUntil(over.signal);
    await vi.advanceTimersByTimeAsync(WORKER_CUT_OFF_MS);
    expect(state.lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state.lost).toEqual(['r-1']);
    state.isCut = false;
    await heart.beat();
    expect(said).toMatchObject([{ runId: 'r-1', messages: [{ report: { type: 'run-exited', exit: { kind: 'error' } } }] }]);
    await heart.beat();
    expect(said).toHaveLength(1);
    over.abort();
  });

  it('says nothing of a run that was given to another meanwhile', async () => {
    const { state, said, heart } = setUp();
    const over = new AbortController();
    state.isCut = true;
    void heart.beatUntil(over.signal);
    await vi.advanceTimersByTimeAsync(WORKER_CUT_OFF_MS + 2_000);
    Object.assign(state, { isCut: false, given: new Set() });
    await heart.beat();
    expect(said).toEqual([]);
    over.abort();
  });

  it('starts no session before it has heard of it again', async () => {
    const { heart } = setUp();
    await vi.advanceTimersByTimeAsync(15_000);
    let isSure = false;
    void heart.sure(new AbortController().signal).then(() => (isSure = true));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(isSure).toBe(false);
    await heart.beat();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isSure).toBe(true);
  });
});

describe('a run that was given up', () => {
  it('is told of at the next heartbeat; a worker that cannot even do that is of no use', async () => {
    const { state, said, heart } = setUp();
    heart.tellGivenUp('r-1', 'it lacks a right');
    state.refuses = true;
    await expect(heart.beat()).rejects.toThrow('lacks a right');
    expect(state.mute).toEqual([expect.stringContaining('lacks a right')]);
    state.refuses = false;
    await heart.beat();
    const fault = { message: 'worker_lost: it lacks a right; the run is tried again' };
    expect(said).toMatchObject([{ runId: 'r-1', messages: [{ report: { type: 'run-exited', exit: { fault } } }] }]);
  });
});

describe('a run that the queue did not hand over', () => {
  it('is begun when it was this worker’s at two heartbeats in a row', async () => {
    const { state, heart } = setUp();
    state.given.add('r-2');
    await heart.beat();
    state.given.add('r-3');
    expect(state.missed).toEqual([]);
    await heart.beat();
    expect(state.missed).toEqual(['r-2']);
    state.held.add('r-2').add('r-3');
    await heart.beat();
    expect(state.missed).toEqual(['r-2']);
  });
});
