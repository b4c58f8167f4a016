import { createHash } from 'node:crypto';
import type { Daemon } from '../ports/daemon.ts';

const REMEMBERED_MS = 24 * 3600_000;
/** A vendor sends far fewer in a day; more than these are looked for in the store again. */
const MAX_REMEMBERED = 100_000;

/** Whether a delivery was not seen within a day, by this process, one before it or one beside it. One without an id is always new. */
export function rememberDeliveries(
  daemon: Pick<Daemon, 'clock' | 'logger' | 'notes'>,
): (kind: string, delivery: string | undefined) => Promise<boolean> {
  const { clock, logger, notes } = daemon;
  /** In the order they came. */
  const seen = new Map<string, number>();

  /** When the store was told of it. What cannot be read or kept costs one poll at most: the delivery is taken all the same. */
  async function keptAt(subject: string): Promise<number | undefined> {
    try {
      const [note] = await notes.listNotes({ subject, since: clock.now() - REMEMBERED_MS, limit: 1 });
      return note?.at;
    } catch (error) {
      logger.warn('earlier webhook deliveries could not be read', { error: String(error) });
      return undefined;
    }
  }

  async function keep(subject: string, at: number): Promise<void> {
    try {
      await notes.addNotes([{ at, subject, body: '' }]);
    } catch (error) {
      logger.warn('a webhook delivery could not be written down', { error: String(error) });
    }
  }

  return async (kind, delivery) => {
    if (delivery === undefined) return true;
    // A subject of its own, so that looking for one does not read the others.
    const subject = `webhook delivery ${createHash('sha256').update(`${kind} ${delivery}`).digest('base64')}`;
    const kept = seen.has(subject) ? undefined : await keptAt(subject);
    const now = clock.now();
    forgetOld(seen, now);
    // Another of the same id may have come while the store was asked.
    const before = seen.get(subject) ?? kept;
    if (before !== undefined && now - before < REMEMBERED_MS) return false;
    seen.delete(subject);
    seen.set(subject, now);
    await keep(subject, now);
    return true;
  };
}

function forgetOld(seen: Map<string, number>, now: number): void {
  for (const [id, at] of seen) {
    if (now - at < REMEMBERED_MS && seen.size < MAX_REMEMBERED) return;
    seen.delete(id);
  }
}
