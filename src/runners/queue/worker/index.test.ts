import { describe, expect, it } from 'vitest';
import type { RunMessage, WorkerNews, WorkerConnection } from '../../../ports/run-queue.ts';
import type { RemovalSubject } from '../../../ports/workspace.ts';
import { startWorker } from './index.ts';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NOTHING: WorkerNews = { refused: null, runs: new Map() };
const job = { removal: {} as RemovalSubject, removedDays: 1, markKey: 'k' };

/** A place at a queue whose heartbeats are answered when the test says so. */
function createConnection() {
  const beats: ((news: WorkerNews) => void)[] = [];
  const said: RunMessage[] = [];
  let work: (id: string) => Promise<void> = () => Promise.resolve();
  const connection: WorkerConnection = {
    takeJobs: (taken) => {
      work = taken;
      return Promise.resolve({ drain: () => Promise.resolve() });
    },
    jobOf: () => Promise.resolve(job),
    beat: () => new Promise((resolve) => beats.push(resolve)),
    say: (_id, _number, messages) => Promise.resolve((said.push(...messages), true)),
    ask: () => Promise.resolve(null),
    answerTo: () => Promise.resolve(null),
    leave: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  return { connection, beats, said, work: (id: string) => work(id) };
}

async function start() {
  const { connection, beats, said, work } = createConnection();
  let [finish, isAborted] = [(): void => {}, false];
  const starting = startWorker({
    connection,
    logger: SILENT,
    loadNow: () => 0,
    adaptersFor: () => {
      throw new Error('there are no runs here');
    },
    remove: (_job, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => (isAborted = true));
        finish = () => resolve({ removed: true, path: '/w', aside: null });
      }),
  });
  beats.shift()?.(NOTHING);
  const worker = await starting;
  return { worker, beats, said, work, finish: () => finish(), isAborted: () => isAborted };
}

describe('a job that a worker takes while a heartbeat is under way', () => {
  it('is not given up because that heartbeat knows nothing of it, but by the next that does not', async () => {
    const { worker, beats, said, work, finish, isAborted } = await start();
    await expect.poll(() => beats.length).toBe(1);
    const working = work('r1');
    beats.shift()?.(NOTHING);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isAborted()).toBe(false);
    finish();
    await working;
    expect(said).toEqual([{ removed: { ok: true, value: { removed: true, path: '/w', aside: null } } }]);
    const second = work('r2');
    // One may have been under way already.
    const isGivenUp = () => {
      beats.shift()?.(NOTHING);
      return isAborted();
    };
    await expect.poll(isGivenUp).toBe(true);
    finish();
    await second;
    expect(said).toHaveLength(1);
    worker.kill();
    beats.shift()?.(NOTHING);
    await worker.done;
  });
});

describe('a job that has ended', () => {
  it('is not begun again while the leader has not taken it back', async () => {
    const { worker, beats, said, work, finish } = await start();
    const given = { refused: null, runs: new Map([['r1', null]]) };
    const working = work('r1');
    await expect.poll(() => (finish(), said.length)).toBe(1);
    await working;
    for (let beat = 0; beat < 3; beat += 1) {
      await expect.poll(() => beats.length, { timeout: 10_000 }).toBe(1);
      beats.shift()?.(given);
    }
    await work('r1');
    expect(said).toHaveLength(1);
    worker.kill();
    await expect.poll(() => (beats.shift()?.(NOTHING), beats.length)).toBe(0);
    await worker.done;
  });
});
