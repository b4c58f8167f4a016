import { randomBytes } from 'node:crypto';
import { StoreError } from '../errors.ts';
import type { StopReason } from '../../domain/model/run.ts';
import type { Job, RunAnswer, RunRequest, RunMessage, WorkerNews, WorkerConnection } from '../../ports/run-queue.ts';
import { all, get, run, type Work } from '../records/work.ts';
import { openPostgres, type Postgres } from './connection.ts';
import { postgresErrorOf } from './errors.ts';
import { NOW, openJobPool, taskOf } from './job-pool.ts';
import { versionOfSchema } from './migrate.ts';
import { takeJobs } from './take-jobs.ts';
import { requireWorkerRights } from './worker-rights.ts';

export interface WorkerFacts {
  readonly name: string;
  /** Stored beside its workspaces. */
  readonly identity: string;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly version: string;
}

/** A place at the queue for this process. Every write for a run asks whether the run is still this worker's. */
export async function openWorkerConnection(url: string, facts: WorkerFacts): Promise<WorkerConnection> {
  const db = await openFleet(url);
  const id = `${facts.name}#${randomBytes(5).toString('hex')}`;
  const pool = await openJobPool(url, facts.slots + 4);
  return {
    takeJobs: async (work) =>
      takeJobs({
        pool,
        task: taskOf(id),
        // One more than there are slots: a removal need not wait for a run. No more runs than slots are given.
        atOnce: facts.slots + 1,
        work,
        explain: (error) => postgresErrorOf(db.address, error),
      }),
    jobOf: (jobId) => db.read(jobOf(jobId, id)),
    beat: (now) => db.write(beat(id, facts, now)),
    say: (runId, number, messages) => db.write(say({ runId, worker: id }, number, messages)),
    ask: (runId, requestId, request, heard) => db.write(ask({ runId, worker: id }, { id: requestId, request, heard })),
    answerTo: (requestId) => db.read(answerTo(requestId)),
    leave: () => db.write(run('DELETE FROM worker_hosts WHERE id = ?', id)),
    async close() {
      await pool.end().catch(() => {});
      await db.close();
    },
  };
}

/** The records of a service; where there are none that can be used, nothing is left open. */
async function openFleet(url: string): Promise<Postgres> {
  const db = await openPostgres(url);
  try {
    await db.read(requireWorkerRights(db.address));
    if ((await db.read(versionOfSchema(db.address))) === 0) throw noFleet(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

function* jobOf(id: string, worker: string): Work<Job | null> {
  const row = yield* get('SELECT job FROM worker_runs WHERE run_id = ? AND worker = ?', id, worker);
  return row === undefined ? null : (JSON.parse(String(row['job'])) as Job);
}

function* beat(id: string, facts: WorkerFacts, now: { load: number; draining: boolean }): Work<WorkerNews> {
  const { name, identity, labels, slots, version } = facts;
  const rows = yield* all(
    `INSERT INTO worker_hosts (id, name, identity, labels, slots, version, load, heard_at, draining)
     VALUES (?, ?, ?, ?, ?, ?, ?, ${NOW}, ?)
     ON CONFLICT (id) DO UPDATE SET load = excluded.load, heard_at = excluded.heard_at, draining = excluded.draining
     RETURNING refused`,
    id,
    name,
    identity,
    JSON.stringify(labels),
    slots,
    version,
    now.load,
    now.draining ? 1 : 0,
  );
  const runs = yield* all('SELECT run_id, stop_reason FROM worker_runs WHERE worker = ?', id);
  return {
    refused: (rows[0]?.['refused'] as string | null | undefined) ?? null,
    runs: new Map(runs.map((row) => [String(row['run_id']), row['stop_reason'] as StopReason | null])),
  };
}

interface Lease {
  readonly runId: string;
  readonly worker: string;
}

/** Held until the write is done: the leader that takes the run away waits for it. */
function* holds({ runId, worker }: Lease): Work<boolean> {
  const row = yield* get('SELECT 1 AS one FROM worker_runs WHERE run_id = ? AND worker = ? FOR SHARE', runId, worker);
  return row !== undefined;
}

/** A batch that was stored although we never heard so is not stored twice. */
function* say(lease: Lease, number: number, messages: readonly RunMessage[]): Work<boolean> {
  if (!(yield* holds(lease))) return false;
  const sql = 'INSERT INTO worker_words (run_id, number, words) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
  yield* run(sql, lease.runId, number, JSON.stringify(messages));
  return true;
}

interface Asked {
  readonly id: string;
  readonly request: RunRequest;
  readonly heard: readonly string[];
}

function* ask(lease: Lease, { id, request, heard }: Asked): Work<'asked' | null> {
  if (!(yield* holds(lease))) return null;
  for (const answered of heard) yield* run('DELETE FROM worker_requests WHERE id = ?', answered);
  const sql = 'INSERT INTO worker_requests (id, run_id, request, taken) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING';
  yield* run(sql, id, lease.runId, JSON.stringify(request));
  return 'asked';
}

function* answerTo(requestId: string): Work<RunAnswer | null> {
  const row = yield* get('SELECT answer FROM worker_requests WHERE id = ? AND answer IS NOT NULL', requestId);
  return row === undefined ? null : (JSON.parse(String(row['answer'])) as RunAnswer);
}

function noFleet(db: Postgres): StoreError {
  const remedy = 'start a service with this store.url first, or check the address';
  return new StoreError({ path: db.address, kind: 'missing', what: 'has no tables of foray', remedy });
}
