import { createHash } from 'node:crypto';
import type { Daemon } from '../ports/daemon.ts';

const REMEMBERED_MS = 24 * 3600_000;
/** A vendor sends far fewer in a day; more than these are forgotten early, which costs one poll. */
const MAX_REMEMBERED = 100_000;
const SUBJECT = 'webhook deliveries';
/** What another daemon took is written down this much later at most. */
const OVERLAP_MS = 60_000;

/** Whether a delivery was not seen within a day, by this process, one before it or one beside it. One without an id is always new. */
export function rememberDeliveries(
  daemon: Pick<Daemon, 'clock' | 'logger' | 'notes'>,
): (kind: string, delivery: string | undefined) => Promise<boolean> {
  const { clock, logger, notes } = daemon;
  /** In the order they came. */
  const seen = new Map<string, number>();
  let recalledAt = 0;

  /** What cannot be read or kept costs one poll at most: the delivery is taken all the same. */
  async function recall(): Promise<void> {
    try {
      const now = clock.now();
      const since = Math.max(now - REMEMBERED_MS, recalledAt - OVERLAP_MS);
      const kept = await notes.listNotes({ subject: SUBJECT, since, limit: MAX_REMEMBERED });
      for (const { body, at } of kept) if (!seen.has(body)) seen.set(body, at);
      recalledAt = now;
    } catch (error) {
      logger.warn('earlier webhook deliveries could not be read', { error: String(error) });
    }
  }

  async function keep(id: string, at: number): Promise<void> {
    try {
      await notes.addNotes([{ at, subject: SUBJECT, body: id }]);
    } catch (error) {
      logger.warn('a webhook delivery could not be written down', { error: String(error) });
    }
  }

  return async (kind, delivery) => {
    if (delivery === undefined) return true;
    const id = createHash('sha256').update(`${kind} ${delivery}`).digest('base64');
    if (!seen.has(id)) await recall();
    const now = clock.now();
    forgetOld(seen, now);
    const before = seen.get(id);
    if (before !== undefined && now - before < REMEMBERED_MS) return false;
    seen.delete(id);
    seen.set(id, now);
    await keep(id, now);
    return true;
  };
}

function forgetOld(seen: Map<string, number>, now: number): void {
  for (const [id, at] of seen) {
    if (now - at < REMEMBERED_MS && seen.size < MAX_REMEMBERED) return;
    seen.delete(id);
  }
}
