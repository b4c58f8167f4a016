import { createHash } from 'node:crypto';
import type { Daemon } from '../../ports/daemon.ts';

/** More than people log out of in thirty days; of more, those that ended longest ago are looked for in the store alone. */
const MAX_REMEMBERED = 10_000;

/** Logins that somebody ended, over restarts too: their cookies are signed and in time, and must not be taken again. */
export interface EndedLogins {
  /** `until`: when it would have ended by itself. */
  add(login: string, until: number): Promise<void>;
  has(login: string): Promise<boolean>;
}

/** `lastsMs`: how long a login lasts by itself. */
export function rememberEndedLogins(daemon: Pick<Daemon, 'clock' | 'logger' | 'notes'>, lastsMs: number): EndedLogins {
  const { clock, logger, notes } = daemon;
  /** In the order they ended: the store may not have taken them, or not yet. */
  const ended = new Set<string>();
  return {
    async add(login, until) {
      const subject = subjectOf(login);
      ended.add(subject);
      const [oldest] = ended;
      if (ended.size > MAX_REMEMBERED && oldest !== undefined) ended.delete(oldest);
      try {
        // Old notes are deleted. This one is as old as the login will be when it no longer matters.
        await notes.addNotes([{ at: until, subject, body: '' }]);
      } catch (error) {
        logger.warn('the end of a login could not be written down', { error: String(error) });
      }
    },
    async has(login) {
      const subject = subjectOf(login);
      if (ended.has(subject)) return true;
      try {
        return (await notes.listNotes({ subject, since: clock.now() - lastsMs, limit: 1 })).length > 0;
      } catch (error) {
        // People look at the pages when the database does not answer, of all times.
        logger.warn('ended logins could not be read', { error: String(error) });
        return false;
      }
    },
  };
}

/** One of its own, so that looking for one does not read the others. What is stored opens nothing. */
function subjectOf(login: string): string {
  return `login ended ${createHash('sha256').update(login).digest('base64')}`;
}
