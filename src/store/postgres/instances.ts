import { storedIdentity } from '../records/trackers.ts';
import { all, get, run, type Work } from '../records/work.ts';
import { NOW } from './job-pool.ts';

/** One daemon on the database. */
export interface InstanceFacts {
  readonly id: string;
  readonly host: string;
  /** Where its pid means something; hosts may share a name. */
  readonly machine: string;
  readonly pid: number;
  readonly processStart: string;
  readonly workflowPath: string;
  readonly version: string;
  /** Where it serves its pages; null where it does not. */
  readonly url: string | null;
}

export interface Leader extends InstanceFacts {
  readonly epoch: number;
  readonly since: number;
  /** How long ago it last said that it lives. */
  readonly silentMs: number;
  /** How long it could have said so: not while the server itself was away. */
  readonly absentMs: number;
  /** It took leave, so that nobody needs to wait. */
  readonly left: boolean;
  /** The tracker that its workflow file names; null where it has not said. */
  readonly tracker: string | null;
}

/** Names the lock of the leader among all advisory locks of the database. */
export const LEADER_LOCK = 4_207_002;

/** Ends the session of the leader, and with it the lock that it holds. */
export const END_SESSION = 'SELECT pg_terminate_backend(backend_pid::integer) FROM leader WHERE backend_pid IS NOT NULL';

/** From when on the leader is missed: it could not say that it lives before the server was there. */
export const MISSED_FROM =
  'greatest(leader.renewed_at, (extract(epoch FROM pg_postmaster_start_time()) * 1000)::double precision)';

/** What a leader watches is kept among the names of trackers: it is one more name, and goes with the leader. */
const WATCHED_BY = 'watched by ';

const READ_LEADER = `SELECT leader.epoch, leader.since, ${NOW} - leader.renewed_at AS silent, ${NOW} - ${MISSED_FROM} AS absent, leader.left_at IS NOT NULL AS has_left,
  leader.instance, leader.backend_pid, i.host, i.machine, i.pid, i.process_start, i.workflow_path, i.version, i.url, watched.identity AS tracker
  FROM leader LEFT JOIN instances AS i ON i.id = leader.instance
  LEFT JOIN tracker_names AS watched ON watched.name = '${WATCHED_BY}' || leader.instance`;

/** Who leads, or led last; null where nobody has yet. */
export function* readLeader(): Work<Leader | null> {
  const row = yield* get(READ_LEADER);
  if (row === undefined || row.instance === '') return null;
  return {
    epoch: Number(row.epoch),
    since: Number(row.since),
    silentMs: Number(row.silent),
    absentMs: Number(row.absent),
    left: Boolean(row.has_left),
    tracker: row.tracker === null ? null : String(row.tracker),
    id: String(row.instance),
    host: String(row.host ?? ''),
    machine: String(row.machine ?? ''),
    pid: Number(row.pid ?? 0),
    processStart: String(row.process_start ?? ''),
    workflowPath: String(row.workflow_path ?? ''),
    version: String(row.version ?? ''),
    url: row.url === null || row.url === undefined ? null : String(row.url),
  };
}

/** Says which tracker this leader watches, by the name it is configured by. */
export function* noteWatched(id: string, configured: string): Work<void> {
  yield* run(`DELETE FROM tracker_names WHERE name LIKE '${WATCHED_BY}%'`);
  yield* run('INSERT INTO tracker_names (name, identity) VALUES (?, ?)', `${WATCHED_BY}${id}`, configured);
}

/** Whether the leader watches the tracker that is configured so; null where nobody can tell. Names that lead to one are one. */
export function* isWatchedBy({ tracker, left }: Leader, configured: string): Work<boolean | null> {
  if (left || tracker === null) return null;
  return (yield* storedIdentity(tracker)) === (yield* storedIdentity(configured));
}

/** The daemons that said within ten seconds that they live. */
export function* readInstances(): Work<readonly InstanceFacts[]> {
  const rows = yield* all(`SELECT * FROM instances WHERE seen_at > ${NOW} - 10000 ORDER BY started_at, id`);
  return rows.map((row) => ({
    id: String(row.id),
    host: String(row.host),
    machine: String(row.machine),
    pid: Number(row.pid),
    processStart: String(row.process_start),
    workflowPath: String(row.workflow_path),
    version: String(row.version),
    url: row.url === null ? null : String(row.url),
  }));
}

/** Says that this daemon lives. */
export function* tellAlive(me: InstanceFacts): Work<void> {
  const { id, host, machine, pid, processStart, workflowPath, version, url } = me;
  yield* run(
    `INSERT INTO instances (id, host, machine, pid, process_start, workflow_path, version, url, started_at, seen_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${NOW}, ${NOW}) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, url = excluded.url`,
    id,
    host,
    machine,
    pid,
    processStart,
    workflowPath,
    version,
    url,
  );
  yield* run(`DELETE FROM instances WHERE seen_at < ${NOW} - 86400000 AND id <> (SELECT instance FROM leader)`);
}
