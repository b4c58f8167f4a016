/** When a usage limit lifts, in epoch milliseconds, as far as a text tells; undefined where it does not. */
export function resetTimeIn(text: string, now: number): number | undefined {
  for (const read of READERS) {
    const at = read(text, now);
    if (at !== null) return plausibleReset(at, now);
  }
  return undefined;
}

/** Seconds or milliseconds since 1970, whichever makes sense, as milliseconds. */
export function epochMs(value: number): number {
  return value < 1e11 ? value * 1000 : value;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The longest limits are monthly. */
const FARTHEST = 32 * DAY;
/** A time that has just gone by is not meant for tomorrow: the text is rounded, and our clocks differ. */
const SLACK = 10 * MINUTE;

/** The moment that was named, as far as one can rest until it: one that is over would have the next session begin at once. */
export function plausibleReset(at: number, now: number): number | undefined {
  if (at < now - SLACK || at > now + FARTHEST) return undefined;
  return at > now ? at : now + MINUTE;
}

type Reader = (text: string, now: number) => number | null;

const READERS: readonly Reader[] = [readEpoch, readIso, readSeconds, readDuration, readWallClock];

/** `usage limit reached|1747346400` */
function readEpoch(text: string): number | null {
  const digits = /\|(\d{10}|\d{13})\b/.exec(text)?.[1];
  return digits === undefined ? null : epochMs(Number(digits));
}

/** `resets at 2026-11-15T12:00:00Z` */
function readIso(text: string): number | null {
  const stamp = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text)?.[0];
  const at = stamp === undefined ? Number.NaN : Date.parse(stamp);
  return Number.isNaN(at) ? null : at;
}

/** `retry-after: 2`, as the header is often quoted. */
function readSeconds(text: string, now: number): number | null {
  const seconds = /\bretry[-_ ]after["']?\s*[:=]\s*["']?(\d{1,7})\b/i.exec(text)?.[1];
  return seconds === undefined ? null : now + Math.max(1, Number(seconds)) * 1000;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE, h: 60 * MINUTE, d: DAY };

/** `resets in 2 hours 5 minutes`, `try again in 30s`, `try again in 1.5s` */
function readDuration(text: string, now: number): number | null {
  const amounts = /\b(?:resets?|again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+)/i.exec(text)?.[1];
  if (amounts === undefined) return null;
  const parts = [...amounts.matchAll(/(\d+(?:\.\d+)?)\s*(s(?:ec|$|\b)|m(?:in|$|\b)|h(?:our|r|$|\b)|d(?:ay|$|\b))/gi)];
  if (parts.length === 0) return null;
  return now + parts.reduce((sum, [, digits, unit = '']) => sum + Number(digits) * (UNIT_MS[unit[0]!.toLowerCase()] ?? 0), 0);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WALL_CLOCK =
  /\b(?:resets?|again)\s+(?:at\s+|on\s+)?(?:([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(\d{4}),?\s+)?(?:at\s+)?)?(\d{1,2})(?::(\d\d))?\s*(am|pm)?\b(?:\s*\(([\w/+-]+)\))?/i;

/** `resets 3:45pm (Europe/Berlin)`, `will reset at 3pm`, `resets Oct 6, 1pm`, `try again at Jan 7th, 2027 3:00 PM` */
function readWallClock(text: string, now: number): number | null {
  const match = WALL_CLOCK.exec(text);
  if (!match) return null;
  const [, monthName, day, year, hours, minutes, half, zone] = match;
  // A bare number is no time of day.
  if (minutes === undefined && half === undefined) return null;
  const time = { hour: hourOf(Number(hours), half?.toLowerCase()), minute: Number(minutes ?? 0) };
  if (time.hour > 23 || time.minute > 59) return null;
  const format = formatIn(zone);
  if (monthName === undefined) return nextTimeOfDay(time, now, format);
  const month = MONTHS.indexOf(monthName.toLowerCase());
  if (month < 0) return null;
  const date = { month, day: Number(day), ...time };
  return year === undefined ? nextDate(date, now, format) : epochOf({ ...date, year: Number(year) }, format);
}

function hourOf(hours: number, half: string | undefined): number {
  if (half === undefined) return hours;
  return (hours % 12) + (half === 'pm' ? 12 : 0);
}

interface WallTime {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

function nextTimeOfDay(time: { hour: number; minute: number }, now: number, format: Intl.DateTimeFormat): number {
  const today = wallTimeAt(now, format);
  const at = epochOf({ ...today, ...time }, format);
  return at >= now - SLACK ? at : epochOf({ ...today, ...time, day: today.day + 1 }, format);
}

function nextDate(date: Omit<WallTime, 'year'>, now: number, format: Intl.DateTimeFormat): number {
  const { year } = wallTimeAt(now, format);
  const at = epochOf({ ...date, year }, format);
  return at >= now - DAY ? at : epochOf({ ...date, year: year + 1 }, format);
}

/** In our own zone where the text names none, or none that is known. */
function formatIn(timeZone: string | undefined): Intl.DateTimeFormat {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...fields, hourCycle: 'h23', timeZone });
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...fields, hourCycle: 'h23' });
  }
}

function wallTimeAt(epoch: number, format: Intl.DateTimeFormat): WallTime {
  const parts = new Map(format.formatToParts(epoch).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return { year: part('year'), month: part('month') - 1, day: part('day'), hour: part('hour'), minute: part('minute') };
}

/** The offset of a zone depends on the very instant that is looked for: the second look corrects the first. */
function epochOf(time: WallTime, format: Intl.DateTimeFormat): number {
  const asUtc = utcOf(time);
  const offsetAt = (epoch: number): number => utcOf(wallTimeAt(epoch, format)) - Math.floor(epoch / MINUTE) * MINUTE;
  const guess = asUtc - offsetAt(asUtc);
  return asUtc - offsetAt(guess);
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month, day, hour, minute);
}
