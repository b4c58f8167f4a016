import { LEADER_BEAT_MS, LEADER_CUT_OFF_MS } from '../../domain/model/lease-times.ts';
import { run, type Work } from '../records/work.ts';
import type { Postgres, Session } from './connection.ts';
import { createContact, momentNow, type Contact } from './contact.ts';
import { END_SESSION, LEADER_LOCK, noteWatched, readInstances, tellAlive } from './instances.ts';
import { NOW } from './job-pool.ts';
import type { InstanceFacts } from './instances.ts';

/** Leading lasts until it is over: `lost` tells why. */
export interface Leadership {
  readonly epoch: number;
  /** When it began, as the database tells everybody. */
  readonly since: number;
  readonly lost: Promise<string>;
  /**
   * Resolves while this one surely leads, and waits where it cannot know: another one may have taken over meanwhile. Rejects
   * when it does not lead any more. Asked before whatever the world outside would see.
   */
  confirm(): Promise<void>;
  /** Whether this one surely leads at this very moment. */
  isConfirmed(): boolean;
  /** Where this one serves its pages, for the others to tell. */
  servesAt(url: string | null): void;
  /** Which tracker this one watches, by the name it is configured by, for the others to tell. */
  watches(tracker: string): void;
  /** A write was refused: this one does not lead any more. */
  overtaken(): void;
  /** Takes leave: the next one may lead at once. */
  leave(): Promise<void>;
}

/** A turn to lead that was won, while it lasts. */
interface Turn {
  readonly db: Postgres;
  readonly epoch: number;
  readonly contact: Contact;
  me: InstanceFacts;
  /** The tracker that is watched, and the one that the others know of; null for none yet. */
  watched: string | null;
  noted: string | null;
  /** Null from the loss of a session until the lock is taken again. */
  session: Session | null;
  /** Another daemon is there that would take over. */
  hasStandby: boolean;
}

/** Says every second that this one leads, until it takes leave or learns that it does not. */
export function keepLeading(
  db: Postgres,
  me: InstanceFacts,
  won: Pick<Leadership, 'epoch' | 'since'> & { readonly session: Session },
): Leadership {
  const { epoch, session } = won;
  const turn: Turn = { db, me, contact: createContact(), hasStandby: false, epoch, session, watched: null, noted: null };
  let tellLost = (_why: string): void => {};
  const lost = new Promise<string>((resolve) => {
    tellLost = resolve;
  });
  let over = false;
  let timer = setTimeout(() => void beat(), LEADER_BEAT_MS);

  async function beat(): Promise<void> {
    const why = await signOfLife(turn);
    if (over) return;
    if (why !== null) return lose(why);
    timer = setTimeout(() => void beat(), LEADER_BEAT_MS);
  }

  function end(why: string): void {
    over = true;
    clearTimeout(timer);
    turn.contact.gone(why);
  }

  function lose(why: string): void {
    end(why);
    void turn.session?.close();
    tellLost(why);
  }

  return {
    epoch: turn.epoch,
    since: won.since,
    lost,
    confirm: () => turn.contact.fresh(),
    isConfirmed: () => turn.contact.isFresh(),
    servesAt(url) {
      turn.me = { ...turn.me, url };
    },
    watches(tracker) {
      turn.watched = tracker;
    },
    overtaken: () => (over ? undefined : lose(OVERTAKEN)),
    async leave() {
      if (over) return;
      end('this one has taken leave');
      await db.write(takeLeave(turn.epoch, me.id)).then(
        () => letGo(turn.session),
        () => {},
      );
      await turn.session?.close();
    },
  };
}

/** The server notices only some time after its end that a session is gone; the next leader need not wait for that. */
async function letGo(session: Session | null): Promise<void> {
  await session?.all('SELECT pg_advisory_unlock(?)', LEADER_LOCK).catch(() => {});
}

const OVERTAKEN = 'another one leads';

/** One sign of life. Says why the turn is over, or null. */
async function signOfLife(turn: Turn): Promise<string | null> {
  const { db, epoch, contact, me } = turn;
  const asked = momentNow();
  try {
    turn.session ??= await regain(db, epoch);
    if (!(await renew(turn.session, epoch))) return OVERTAKEN;
    contact.confirmed(asked);
    await db.write(tellAlive(me));
    await tellWatched(turn);
    turn.hasStandby = (await db.read(readInstances())).some(({ id }) => id !== me.id);
    return null;
  } catch (error) {
    await dropSession(turn);
    if (error instanceof Overtaken) return OVERTAKEN;
    return turn.hasStandby && contact.ageMs() > LEADER_CUT_OFF_MS ? 'the database was out of reach for too long' : null;
  }
}

/** Lets the others know which tracker is watched, where it is another than they know of. */
async function tellWatched(turn: Turn): Promise<void> {
  const { db, epoch, me, watched, noted } = turn;
  if (watched === null || watched === noted) return;
  await db.writeUnder(epoch, noteWatched(me.id, watched));
  turn.noted = watched;
}

class Overtaken extends Error {}

/** The next sign of life asks for another one. */
async function dropSession(turn: Turn): Promise<void> {
  const { session } = turn;
  turn.session = null;
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
