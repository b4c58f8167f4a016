import { LEADER_ABSENT_MS, LEADER_SILENT_MS } from '../../domain/model/lease-times.ts';
import type { Postgres, Session } from './connection.ts';
import { END_SESSION, LEADER_LOCK, MISSED_FROM, readLeader, tellAlive } from './instances.ts';
import { NOW } from './job-pool.ts';
import type { InstanceFacts, Leader } from './instances.ts';
import { versionOfSchema } from './migrate.ts';
import { keepLeading, type Leadership } from './keep-leading.ts';

export type { InstanceFacts } from './instances.ts';
export type { Leadership } from './keep-leading.ts';

/**
 * One try to lead: null while another does, or may come back. One that could not reach the server itself cannot tell whether
 * the leader could: it misses the leader from the moment on that it reaches the server again. Tables that a newer version has
 * changed since this one started are refused, as they are at the start.
 */
export async function tryToLead(db: Postgres, me: InstanceFacts, reachedForMs = Infinity): Promise<Leadership | null> {
  await db.write(tellAlive(me));
  const before = await db.read(readLeader());
  if (before !== null && !before.left && Math.min(before.absentMs, reachedForMs) < LEADER_ABSENT_MS) return null;
  await db.read(versionOfSchema(db.address));
  const session = await db.session();
  let won: Won | null = null;
  try {
    if (await takeLock(session, before)) won = await nextEpoch(session, me.id);
  } finally {
    if (won === null) await session.close();
  }
  return won === null ? null : keepLeading(db, me, { ...won, session });
}

/** An epoch, and when it began. */
type Won = Pick<Leadership, 'epoch' | 'since'>;

async function takeLock(session: Session, before: Leader | null): Promise<boolean> {
  const [row] = await session.all('SELECT pg_try_advisory_lock(?) AS taken', LEADER_LOCK);
  if (row?.taken) return true;
  if (before !== null && before.absentMs > LEADER_SILENT_MS) await session.all(END_SESSION);
  return false;
}

/** The epoch under which everything is written from now on; null when the last leader came back in between. */
async function nextEpoch(session: Session, id: string): Promise<Won | null> {
  const [row] = await session.all(
    `UPDATE leader SET epoch = epoch + 1, instance = ?, since = ${NOW}, renewed_at = ${NOW}, left_at = NULL, backend_pid = pg_backend_pid()
     WHERE left_at IS NOT NULL OR ${MISSED_FROM} < ${NOW} - ${LEADER_ABSENT_MS} RETURNING epoch, since`,
    id,
  );
  return row === undefined ? null : { epoch: Number(row.epoch), since: Number(row.since) };
}
