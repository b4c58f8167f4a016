import type { Repeated } from '../../lib/repeat.ts';
import { lookRepeatedly } from '../../lib/repeated-look.ts';
import type { Event } from '../../domain/model/event.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Note, Store } from '../../ports/store.ts';
import type { Hint, Postgres } from '../../store/postgres/index.ts';
import type { LeaderTerm } from './leading.ts';
import { errorText } from '../../lib/error-text.ts';

/** What a daemon that stands by passes on through the database. */
export interface PassedOn {
  webhook(): void;
  /** Whether the leader was yet to hear of one before. */
  refresh(): Promise<boolean>;
  /** Kept by the leader, which alone writes notes. */
  addNotes(notes: readonly Note[]): Promise<void>;
  stop(): void;
}

/** How often the leader looks, and how often one that stands by tries again. */
const LOOK_EVERY_MS = 500;

/** Who was told that a hint was taken need not send it again: it waits here while the database does not take it. */
export function passOn(db: Postgres, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }): PassedOn {
  const untold = new Set<'webhook' | 'refresh'>();
  const leave = async (kind: Hint['kind'], body = ''): Promise<void> => {
    const { leaveHint } = await import('../../store/postgres/index.ts');
    await db.write(leaveHint({ kind, body, at: clock.now() }));
  };
  const isRefreshWaiting = async (): Promise<boolean> => {
    const { readHints } = await import('../../store/postgres/index.ts');
    return untold.has('refresh') || (await db.read(readHints())).some(({ kind }) => kind === 'refresh');
  };
  const leaveOrKeep = (kind: 'webhook' | 'refresh'): Promise<void> =>
    leave(kind).catch((error: unknown) => {
      untold.add(kind);
      logger.warn('the leader could not be told to look at the tracker, trying again', { error: errorText(error) });
    });
  const leaveUntold = async (): Promise<void> => {
    for (const kind of untold) {
      // Before it is left: one that comes meanwhile is another.
      untold.delete(kind);
      await leave(kind).catch((error: unknown) => {
        untold.add(kind);
        throw error;
      });
    }
  };
  // A failure was told when it was kept.
  const trying = lookRepeatedly(leaveUntold, LOOK_EVERY_MS, () => {});
  return {
    webhook: () => void leaveOrKeep('webhook'),
    async refresh() {
      const isMerged = await isRefreshWaiting().catch(() => false);
      // All the same: the leader may just be at work on the other.
      await leaveOrKeep('refresh');
      return isMerged;
    },
    async addNotes(notes) {
      for (const note of notes) await leave('note', JSON.stringify(note));
    },
    stop: trying.stop,
  };
}

export interface HintsDeps {
  readonly report: (event: Event) => void;
  readonly notes: Pick<Store, 'addNotes'>;
  readonly logger: Logger;
}

/** The leader hears what those that stand by were told. */
export function followHints({ db, leadership }: LeaderTerm, { report, notes, logger }: HintsDeps): Repeated {
  const look = async (): Promise<void> => {
    const { dropHints, readHints } = await import('../../store/postgres/index.ts');
    const hints = await db.read(readHints());
    if (hints.length === 0) return;
    const kept = hints.flatMap(({ kind, body }) => (kind === 'note' ? [JSON.parse(body) as Note] : []));
    if (hints.some(({ kind }) => kind === 'webhook')) report({ type: 'webhook-received' });
    if (hints.some(({ kind }) => kind === 'refresh')) report({ type: 'refresh-requested', byPerson: true });
    if (kept.length > 0) await notes.addNotes(kept);
    // Only now: a hint whose removal is lost on the way is acted on twice, never not at all.
    await db.writeUnder(leadership.epoch, dropHints(hints));
  };
  return lookRepeatedly(look, LOOK_EVERY_MS, (fault) =>
    logger.warn('hints of other daemons could not be read', { error: errorText(fault) }),
  );
}
