import type { RateLimits } from './parse.ts';

/** The usage limits of the account, as Codex last told them. */
export interface LimitBook {
  add(limits: RateLimits): void;
  /** When a limit that was hit lifts, in epoch milliseconds; undefined when nobody told. */
  resetsAt(message: string, now: number): number | undefined;
}

const MAX_LIMITS = 50;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The longest limits are monthly. */
const FARTHEST_MS = 32 * 24 * HOUR_MS;

export function createLimitBook(): LimitBook {
  const byId = new Map<string, RateLimits>();
  return {
    add(limits) {
      const id = limits.limitId ?? '';
      if (!byId.has(id) && byId.size >= MAX_LIMITS) return;
      const { primary = null, secondary = null } = byId.get(id) ?? {};
      // A later report may leave a window out that has not changed.
      byId.set(id, { limitId: id, primary: limits.primary ?? primary, secondary: limits.secondary ?? secondary });
    },
    resetsAt(message, now) {
      const windows = [...byId.values()].flatMap(({ primary, secondary }) => [primary, secondary]);
      const spent = windows.flatMap((found) => (found?.resetsAt && found.usedPercent >= 100 ? [found.resetsAt * 1000] : []));
      // All spent windows have to lift.
      const told = spent.filter((at) => isAhead(at, now));
      return told.length > 0 ? Math.max(...told) : resetTimeIn(message, now);
    },
  };
}

/** When the text says that one may try again. Codex names a local time of the machine it runs on, or a span. */
export function resetTimeIn(message: string, now: number): number | undefined {
  const rest = /\btry again (?:at|in) (?<when>.*)/i.exec(message)?.groups?.['when'] ?? '';
  const at = readSpan(rest, now) ?? readMoment(rest, now);
  return at !== null && isAhead(at, now) ? at : undefined;
}

function isAhead(at: number, now: number): boolean {
  return at > now && at <= now + FARTHEST_MS;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE_MS, h: HOUR_MS, d: 24 * HOUR_MS };

/** `2 days 3 hours 5 minutes`, `30s` */
function readSpan(text: string, now: number): number | null {
  const parts = [...text.matchAll(/(?<amount>\d+)\s*(?<unit>[dhms])(?:ays?|ours?|rs?|in(?:ute)?s?|ec(?:ond)?s?)?\b/gi)];
  const ms = parts.reduce(
    (sum, { groups }) => sum + Number(groups?.['amount']) * (UNIT_MS[groups?.['unit']?.toLowerCase() ?? ''] ?? 0),
    0,
  );
  return ms > 0 ? now + ms : null;
}

/** `3:45 PM`, today or tomorrow, and `Jan 5th, 2027 3:45 PM` */
function readMoment(text: string, now: number): number | null {
  const found = /(?:(?<month>[A-Z][a-z]{2}) (?<day>\d{1,2})(?:st|nd|rd|th)?, (?<year>\d{4}) )?(?<time>\d{1,2}:\d\d [AP]M)/.exec(
    text,
  );
  if (!found?.groups) return null;
  const { month, day, year, time } = found.groups;
  if (month !== undefined) return parsed(`${month} ${day}, ${year} ${time}`);
  const today = parsed(`${new Date(now).toDateString()} ${time}`);
  return today === null || today > now ? today : parsed(`${new Date(now + 24 * HOUR_MS).toDateString()} ${time}`);
}

function parsed(text: string): number | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
