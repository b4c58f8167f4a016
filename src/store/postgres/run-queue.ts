import type { RunAnswer, RunJob, RunQueue, RunRequest, RunWord, WordBatch, WorkerRow } from '../../ports/run-queue.ts';
import { all, run, type Row, type Work } from '../records/work.ts';
import type { Postgres } from './connection.ts';
import { jobLibrary, NOW, openJobPool, silentLogger, taskOf } from './job-pool.ts';

/** The leader's side of the queue, fenced by its epoch. Jobs are those of graphile-worker, one for each run. */
export async function openRunQueue(url: string, db: Postgres, epoch: number): Promise<RunQueue> {
  const pool = await openJobPool(url);
  const { makeWorkerUtils } = await jobLibrary();
  const jobs = await makeWorkerUtils({ pgPool: pool, logger: await silentLogger() });
  await jobs.migrate();
  const write = <T>(work: Work<T>): Promise<T> => db.writeUnder(epoch, work);
  return {
    revokeAll: () => write(revokeAll()),
    workers: () => db.read(readWorkers()),
    refuse: (workerId, why) => write(run('UPDATE worker_hosts SET refused = ? WHERE id = ?', why, workerId)),
    async give(runId, workerId, job) {
      await write(giveRun(runId, workerId, job));
      await jobs.addJob(taskOf(workerId), { runId }, { jobKey: runId, maxAttempts: 1 });
    },
    tellStop: (runId, reason) => write(run('UPDATE worker_runs SET stop_reason = ? WHERE run_id = ?', reason, runId)),
    takeWords: () => write(takeWords()),
    takeRequests: () => write(takeRequests()),
    answer: (requestId, answer) => write(putAnswer(requestId, answer)),
    revoke: (runId) => write(revokeRun(runId)),
    forgetWorker: (workerId) => write(run('DELETE FROM worker_hosts WHERE id = ?', workerId)),
    async close() {
      await jobs.release();
      await pool.end();
    },
  };
}

function* revokeAll(): Work<void> {
  yield* run('DELETE FROM worker_runs');
  yield* run('DELETE FROM worker_words');
  yield* run('DELETE FROM worker_requests');
}

function* readWorkers(): Work<readonly WorkerRow[]> {
  const rows = yield* all(`SELECT *, ${NOW} - heard_at AS silent_ms FROM worker_hosts ORDER BY name, rowid`);
  return rows.map(workerOf);
}

function* giveRun(runId: string, workerId: string, job: RunJob): Work<void> {
  yield* run('INSERT INTO worker_runs (run_id, worker, job) VALUES (?, ?, ?)', runId, workerId, JSON.stringify(job));
}

/** Words of a run that is over here are dropped with it. */
function* takeWords(): Work<readonly WordBatch[]> {
  const rows = yield* all('DELETE FROM worker_words RETURNING run_id, number, words');
  return rows
    .toSorted((a, b) => Number(a['number']) - Number(b['number']))
    .map((row) => ({
      runId: String(row['run_id']),
      number: Number(row['number']),
      words: JSON.parse(String(row['words'])) as RunWord[],
    }));
}

function* takeRequests(): Work<readonly { readonly id: string; readonly runId: string; readonly request: RunRequest }[]> {
  const rows = yield* all('UPDATE worker_requests SET taken = 1 WHERE taken = 0 RETURNING id, run_id, request');
  return rows.map((row) => ({
    id: String(row['id']),
    runId: String(row['run_id']),
    request: JSON.parse(String(row['request'])) as RunRequest,
  }));
}

function putAnswer(requestId: string, answer: RunAnswer): Work<void> {
  return run('UPDATE worker_requests SET answer = ? WHERE id = ?', JSON.stringify(answer), requestId);
}

function* revokeRun(runId: string): Work<void> {
  yield* run('DELETE FROM worker_runs WHERE run_id = ?', runId);
  yield* run('DELETE FROM worker_words WHERE run_id = ?', runId);
  yield* run('DELETE FROM worker_requests WHERE run_id = ?', runId);
}

function workerOf(row: Row): WorkerRow {
  return {
    id: String(row['id']),
    name: String(row['name']),
    labels: JSON.parse(String(row['labels'])) as string[],
    slots: Number(row['slots']),
    version: String(row['version']),
    load: Number(row['load']),
    heardAt: Number(row['heard_at']),
    silentMs: Number(row['silent_ms']),
    draining: Number(row['draining']) === 1,
  };
}
