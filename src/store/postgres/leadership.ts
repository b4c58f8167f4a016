import type { Postgres, Session } from './connection.ts';
import { ABSENT_MS, END_SESSION, LEADER_LOCK, readLeader, SILENT_MS, tellAlive } from './instances.ts';
import { NOW } from './job-pool.ts';
import type { InstanceFacts, Leader } from './instances.ts';
import { keepLeading, type Leadership } from './keep-leading.ts';

export type { InstanceFacts } from './instances.ts';
export type { Leadership } from './keep-leading.ts';

/** One try to lead: null while another does, or may come back. */
export async function tryToLead(db: Postgres, me: InstanceFacts): Promise<Leadership | null> {
  await db.write(tellAlive(me));
  const before = await db.read(readLeader());
  if (before !== null && !before.left && before.silentMs < ABSENT_MS) return null;
  const session = await db.session();
  let epoch: number | null = null;
  try {
    if (await takeLock(session, before)) epoch = await nextEpoch(session, me.id);
  } finally {
    if (epoch === null) await session.close();
  }
  return epoch === null ? null : keepLeading(db, me, { epoch, session });
}

async function takeLock(session: Session, before: Leader | null): Promise<boolean> {
  const [row] = await session.all('SELECT pg_try_advisory_lock(?) AS taken', LEADER_LOCK);
  if (row?.taken) return true;
  if (before !== null && before.silentMs > SILENT_MS) await session.all(END_SESSION);
  return false;
}

/** The epoch under which everything is written from now on; null when the last leader came back in between. */
async function nextEpoch(session: Session, id: string): Promise<number | null> {
  const [row] = await session.all(
    `UPDATE leader SET epoch = epoch + 1, instance = ?, since = ${NOW}, renewed_at = ${NOW}, left_at = NULL, backend_pid = pg_backend_pid()
     WHERE left_at IS NOT NULL OR renewed_at < ${NOW} - ${ABSENT_MS} RETURNING epoch`,
    id,
  );
  return row === undefined ? null : Number(row.epoch);
}
