import { setTimeout as delay } from 'node:timers/promises';
import type {
  AskedOfTheLeader,
  GivenJob,
  KnownOfQueue,
  QueueNews,
  RunAnswer,
  RunQueue,
  RunRequest,
  RunMessage,
  MessageBatch,
  WorkerRow,
} from '../../ports/run-queue.ts';
import { REMOVAL_PREFIX } from '../../ports/run-queue.ts';
import { all, run, type Row, type Work } from '../records/work.ts';
import { wasCommitted, type Postgres } from './connection.ts';
import { InDoubt, postgresErrorOf } from './errors.ts';
import { jobLibrary, NOW, openJobPool, silentLogger, taskOf } from './job-pool.ts';

/** The leader's side of the queue, fenced by its epoch. Jobs are those of graphile-worker, one for each run. */
export async function openRunQueue(url: string, db: Postgres, epoch: number): Promise<RunQueue> {
  await makeJobTables(url, db);
  const closing = new AbortController();
  const write = (work: Work<void>): Promise<void> => writeOnce(db, () => db.writeUnder(epoch, work), closing.signal);
  return {
    revokeAll: () => write(revokeAll()),
    look: (known) => (known.heard.length === 0 ? db.read(lookAround(known)) : db.writeUnder(epoch, lookAround(known))),
    refuse: (workerId, why) => write(run('UPDATE worker_hosts SET refused = ? WHERE id = ?', why, workerId)),
    give: (jobs) => write(giveJobs(jobs)),
    tellStop: (runId, reason) => write(run('UPDATE worker_runs SET stop_reason = ? WHERE run_id = ?', reason, runId)),
    answer: (requestId, answer) => write(putAnswer(requestId, answer)),
    revoke: (ids) => write(revokeRuns(ids)),
    forgetWorker: (workerId) => write(run('DELETE FROM worker_hosts WHERE id = ?', workerId)),
    close: () => Promise.resolve(closing.abort(new Error('the queue is closed'))),
  };
}

/** The tables of graphile-worker, without what workers that are gone left in them. */
async function makeJobTables(url: string, db: Postgres): Promise<void> {
  const pool = await openJobPool(url);
  try {
    const { makeWorkerUtils } = await jobLibrary();
    const jobs = await makeWorkerUtils({ pgPool: pool, logger: await silentLogger() });
    await jobs.migrate();
    const here = (await db.read(readWorkers())).map(({ id }) => taskOf(id));
    await jobs.cleanup({ tasks: ['DELETE_PERMAFAILED_JOBS', 'GC_TASK_IDENTIFIERS'], taskIdentifiersToKeep: here });
    await jobs.release();
  } catch (error) {
    throw postgresErrorOf(db.address, error);
  } finally {
    await pool.end().catch(() => {});
  }
}

const AGAIN_MS = 500;

/** Where the connection broke at the commit, the server is asked whether it came true: then it is not done twice. */
async function writeOnce(db: Postgres, write: () => Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof InDoubt)) throw error;
    if (!(await cameTrue(db, error.transaction, signal))) throw error;
  }
}

async function cameTrue(db: Postgres, transaction: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted();
    const known = await wasCommitted(db, transaction).catch(() => null);
    if (known !== null) return known;
    await delay(AGAIN_MS, undefined, { signal });
  }
}

function* revokeAll(): Work<void> {
  yield* run('DELETE FROM worker_runs');
  yield* run('DELETE FROM worker_words');
  yield* run('DELETE FROM worker_requests');
}

/** More batches than this wait for the next look. */
const MOST_BATCHES = 2_000;

function* lookAround({ heard, answering }: KnownOfQueue): Work<QueueNews> {
  for (const { runId, number } of heard) {
    yield* run('DELETE FROM worker_words WHERE run_id = ? AND number <= ?', runId, number);
  }
  const batches = yield* all('SELECT run_id, number, words FROM worker_words ORDER BY rowid LIMIT ?', MOST_BATCHES);
  const requests = yield* all(
    "SELECT id, run_id, request FROM worker_requests WHERE answer IS NULL AND NOT (id = ANY (string_to_array(?, ','))) ORDER BY rowid",
    answering.join(','),
  );
  return { batches: batches.map(batchOf), requests: requests.map(requestOf), workers: yield* readWorkers() };
}

function* readWorkers(): Work<readonly WorkerRow[]> {
  const rows = yield* all(`SELECT *, ${NOW} - heard_at AS silent_ms FROM worker_hosts ORDER BY name, rowid`);
  return rows.map(workerOf);
}

/** The workers as everybody sees them. */
export interface Fleet {
  readonly workers: readonly WorkerRow[];
  /** Which of them has a run, by the ids of both. */
  readonly holders: ReadonlyMap<string, string>;
}

export function* readFleet(): Work<Fleet> {
  const workers = yield* readWorkers();
  const given = yield* all(`SELECT run_id, worker FROM worker_runs WHERE run_id NOT LIKE '${REMOVAL_PREFIX}%'`);
  return { workers, holders: new Map(given.map((row) => [String(row['run_id']), String(row['worker'])])) };
}

/** Lease and job in one: neither is ever there without the other. */
function* giveJobs(jobs: readonly GivenJob[]): Work<void> {
  for (const { id, workerId, job } of jobs) {
    yield* run('INSERT INTO worker_runs (run_id, worker, job) VALUES (?, ?, ?)', id, workerId, JSON.stringify(job));
    yield* run(
      'SELECT graphile_worker.add_job(?, payload => ?::json, job_key => ?, max_attempts => 1)',
      taskOf(workerId),
      JSON.stringify({ runId: id }),
      id,
    );
  }
}

function putAnswer(requestId: string, answer: RunAnswer): Work<void> {
  return run('UPDATE worker_requests SET answer = ? WHERE id = ?', JSON.stringify(answer), requestId);
}

/** Words of a run that is over here are dropped with it, and its job where nobody took it. */
function* revokeRuns(ids: readonly string[]): Work<void> {
  for (const id of ids) {
    yield* run('DELETE FROM worker_runs WHERE run_id = ?', id);
    yield* run('DELETE FROM worker_words WHERE run_id = ?', id);
    yield* run('DELETE FROM worker_requests WHERE run_id = ?', id);
    yield* run('SELECT graphile_worker.remove_job(?)', id);
  }
}

function batchOf(row: Row): MessageBatch {
  return {
    runId: String(row['run_id']),
    number: Number(row['number']),
    messages: JSON.parse(String(row['words'])) as RunMessage[],
  };
}

function requestOf(row: Row): AskedOfTheLeader {
  return { id: String(row['id']), runId: String(row['run_id']), request: JSON.parse(String(row['request'])) as RunRequest };
}

function workerOf(row: Row): WorkerRow {
  return {
    id: String(row['id']),
    name: String(row['name']),
    identity: String(row['identity']),
    labels: JSON.parse(String(row['labels'])) as string[],
    slots: Number(row['slots']),
    version: String(row['version']),
    load: Number(row['load']),
    heardAt: Number(row['heard_at']),
    silentMs: Number(row['silent_ms']),
    draining: Number(row['draining']) === 1,
  };
}
