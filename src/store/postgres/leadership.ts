import { all, get, run, type Work } from '../records/work.ts';
import type { Postgres, Session } from './connection.ts';
import { createContact } from './contact.ts';

/** One daemon on the database. */
export interface InstanceFacts {
  readonly id: string;
  readonly host: string;
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
  /** It took leave, so that nobody needs to wait. */
  readonly left: boolean;
}

/** Leading lasts until it is over: `lost` tells why. */
export interface Leadership {
  readonly epoch: number;
  readonly lost: Promise<string>;
  /**
   * Resolves while this one surely leads, and waits where it cannot know: another one may have taken over meanwhile. Rejects
   * when it does not lead any more. Asked before whatever the world outside would see.
   */
  confirm(): Promise<void>;
  /** Where this one serves its pages, for the others to tell. */
  servesAt(url: string | null): void;
  /** A write was refused: this one does not lead any more. */
  overtaken(): void;
  /** Takes leave: the next one may lead at once. */
  leave(): Promise<void>;
}

/** Names the lock of the leader among all advisory locks of the database. */
const LEADER_LOCK = 4_207_002;

/** How often the leader says that it lives, and the others look. */
export const BEAT_MS = 1_000;
/** A leader whose session is gone has this long to come back: more than `CONFIRMED_MS`. */
const ABSENT_MS = 3_000;
/** A leader that keeps its session and says nothing for so long (it is stopped, or cut off) loses it. */
const SILENT_MS = 6_000;
/**
 * A leader that cannot reach the database for so long ends its sessions, where another could have taken over. The next
 * one starts what ran there only after `SESSIONS_OVER_MS`.
 */
const CUT_OFF_MS = 30_000;
export const SESSIONS_OVER_MS = 45_000;

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';
const READ_LEADER = `SELECT leader.epoch, leader.since, ${NOW} - leader.renewed_at AS silent, leader.left_at IS NOT NULL AS has_left,
  leader.instance, leader.backend_pid, i.host, i.pid, i.process_start, i.workflow_path, i.version, i.url
  FROM leader LEFT JOIN instances AS i ON i.id = leader.instance`;

/** Who leads, or led last; null where nobody has yet. */
export function* readLeader(): Work<Leader | null> {
  const row = yield* get(READ_LEADER);
  if (row === undefined || row.instance === '') return null;
  return {
    epoch: Number(row.epoch),
    since: Number(row.since),
    silentMs: Number(row.silent),
    left: Boolean(row.has_left),
    id: String(row.instance),
    host: String(row.host ?? ''),
    pid: Number(row.pid ?? 0),
    processStart: String(row.process_start ?? ''),
    workflowPath: String(row.workflow_path ?? ''),
    version: String(row.version ?? ''),
    url: row.url === null || row.url === undefined ? null : String(row.url),
  };
}

/** The daemons that said within ten seconds that they live. */
function* readInstances(): Work<readonly InstanceFacts[]> {
  const rows = yield* all(`SELECT * FROM instances WHERE seen_at > ${NOW} - 10000 ORDER BY started_at, id`);
  return rows.map((row) => ({
    id: String(row.id),
    host: String(row.host),
    pid: Number(row.pid),
    processStart: String(row.process_start),
    workflowPath: String(row.workflow_path),
    version: String(row.version),
    url: row.url === null ? null : String(row.url),
  }));
}

/** Says that this daemon lives. */
function* tellAlive(me: InstanceFacts): Work<void> {
  const { id, host, pid, processStart, workflowPath, version, url } = me;
  yield* run(
    `INSERT INTO instances (id, host, pid, process_start, workflow_path, version, url, started_at, seen_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ${NOW}, ${NOW}) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, url = excluded.url`,
    id,
    host,
    pid,
    processStart,
    workflowPath,
    version,
    url,
  );
  yield* run(`DELETE FROM instances WHERE seen_at < ${NOW} - 86400000 AND id <> (SELECT instance FROM leader)`);
}

/** One try to lead: null while another does, or may come back. */
export async function tryToLead(db: Postgres, me: InstanceFacts): Promise<Leadership | null> {
  await db.write(tellAlive(me));
  const before = await db.read(readLeader());
  if (before !== null && !before.left && before.silentMs < ABSENT_MS) return null;
  const session = await db.session();
  const epoch = (await takeLock(session, before)) ? await nextEpoch(session, me.id) : null;
  if (epoch !== null) return createLeadership(db, me, { epoch, session });
  await session.close();
  return null;
}

async function takeLock(session: Session, before: Leader | null): Promise<boolean> {
  const [row] = await session.all('SELECT pg_try_advisory_lock(?) AS taken', LEADER_LOCK);
  if (row?.taken) return true;
  if (before !== null && before.silentMs > SILENT_MS) await session.all(END_SESSION);
  return false;
}

const END_SESSION = 'SELECT pg_terminate_backend(backend_pid::integer) FROM leader WHERE backend_pid IS NOT NULL';

/** The epoch under which everything is written from now on; null when the last leader came back in between. */
async function nextEpoch(session: Session, id: string): Promise<number | null> {
  const [row] = await session.all(
    `UPDATE leader SET epoch = epoch + 1, instance = ?, since = ${NOW}, renewed_at = ${NOW}, left_at = NULL, backend_pid = pg_backend_pid()
     WHERE left_at IS NOT NULL OR renewed_at < ${NOW} - ${ABSENT_MS} RETURNING epoch`,
    id,
  );
  return row === undefined ? null : Number(row.epoch);
}

interface Reign {
  readonly epoch: number;
  session: Session | null;
}

function createLeadership(db: Postgres, me: InstanceFacts, reign: Reign): Leadership {
  let lose = (_why: string): void => {};
  const lost = new Promise<string>((resolve) => {
    lose = resolve;
  });
  const contact = createContact();
  let over = false;
  let self = me;
  let standby = false;
  let timer = setTimeout(() => void beat(), BEAT_MS);

  async function beat(): Promise<void> {
    const asked = performance.now();
    try {
      reign.session ??= await regain(db, reign.epoch);
      if (!(await renew(reign.session, reign.epoch))) return end('another one leads');
      contact.confirmed(asked);
      await db.write(tellAlive(self));
      standby = (await db.read(readInstances())).some(({ id }) => id !== me.id);
    } catch (error) {
      await dropSession(reign);
      if (error instanceof Overtaken) return end('another one leads');
      if (standby && contact.ageMs() > CUT_OFF_MS) return end('the database was out of reach for too long');
    }
    if (!over) timer = setTimeout(() => void beat(), BEAT_MS);
  }

  function end(why: string): void {
    over = true;
    clearTimeout(timer);
    void reign.session?.close();
    contact.gone(why);
    lose(why);
  }

  return {
    epoch: reign.epoch,
    lost,
    confirm: () => (over ? Promise.reject(new Error('this one does not lead any more')) : contact.fresh()),
    servesAt(url) {
      self = { ...me, url };
    },
    overtaken: () => (over ? undefined : end('another one leads')),
    async leave() {
      if (over) return;
      over = true;
      clearTimeout(timer);
      await db.write(takeLeave(reign.epoch, me.id)).catch(() => {});
      await reign.session?.close();
    },
  };
}

class Overtaken extends Error {}

/** The next beat asks for another one. */
async function dropSession(reign: Reign): Promise<void> {
  const { session } = reign;
  reign.session = null;
  await session?.close();
}

async function renew(session: Session, epoch: number): Promise<boolean> {
  const sql = `UPDATE leader SET renewed_at = ${NOW}, backend_pid = pg_backend_pid() WHERE epoch = ? RETURNING epoch`;
  return (await session.all(sql, epoch)).length === 1;
}

/** A session was lost. The lock is taken again, and nothing has happened unless another epoch began. */
async function regain(db: Postgres, epoch: number): Promise<Session> {
  const session = await db.session();
  try {
    const [row] = await session.all('SELECT epoch FROM leader');
    if (Number(row?.epoch) !== epoch) throw new Overtaken();
    const [lock] = await session.all('SELECT pg_try_advisory_lock(?) AS taken', LEADER_LOCK);
    if (lock?.taken) return session;
    // The server has not noticed yet that the connection before this one is gone.
    await session.all(END_SESSION);
    throw new Error('the lock of the last session is still held');
  } catch (error) {
    await session.close();
    throw error;
  }
}

function* takeLeave(epoch: number, id: string): Work<void> {
  yield* run(`UPDATE leader SET left_at = ${NOW}, backend_pid = NULL WHERE epoch = ?`, epoch);
  yield* run(`UPDATE instances SET seen_at = 0 WHERE id = ?`, id);
}
