import type { TrackerHttp } from '../shared/http.ts';
import { USER } from './scm-schema.ts';

/** Whether an account is a bot of the platform. Authors and reviewers carry no such mark: each account is asked for once. */
export interface BotLookup {
  isBot(userId: number, signal: AbortSignal): Promise<boolean>;
}

/**
 * What was learnt is kept for as long as the lookup lives; a failure is not, it is asked again. Reads of one look run side by
 * side and end together, so they share what is still under way.
 */
export function createBotLookup(http: TrackerHttp): BotLookup {
  const known = new Map<number, Promise<boolean>>();
  const ask = async (userId: number, signal: AbortSignal): Promise<boolean> => {
    const { bot } = await http.getJson(USER, { path: `/users/${userId}` }, signal);
    return bot === true;
  };
  return {
    isBot: (userId, signal) => {
      const before = known.get(userId);
      if (before) return before;
      const asked = ask(userId, signal);
      known.set(userId, asked);
      asked.catch(() => known.delete(userId));
      return asked;
    },
  };
}
