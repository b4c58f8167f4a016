const CLOCK_KINDS = ['since', 'until', 'ago'] as const;
/** What a clock on the page shows: time since, time until, or how long ago. */
export type ClockKind = (typeof CLOCK_KINDS)[number];

export function isClockKind(text: string): text is ClockKind {
  return (CLOCK_KINDS as readonly string[]).includes(text);
}

/** The text of a clock; the browser goes on with the same function. */
export function clockText(kind: ClockKind, at: number, now: number): string {
  if (kind === 'until') return at - now <= 0 ? 'now' : `in ${durationText(at - now)}`;
  if (kind === 'ago') return now - at < 1000 ? 'just now' : `${durationText(now - at).replace(/ \d\ds$/, '')} ago`;
  return durationText(now - at);
}

/** The two largest units: `42s`, `3m 05s`, `2h 07m`, `4d 03h`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d ${twoDigits(hours % 24)}h`;
}

/** Large figures short: `987`, `12.3k`, `4.56M`. */
export function countText(count: number): string {
  if (count < 1000) return String(count);
  // The next unit begins where three digits would round up to a fourth.
  const unit = UNITS.find(({ size }) => count < 999.5 * size) ?? LARGEST;
  return `${Number((count / unit.size).toPrecision(3))}${unit.name}`;
}

const LARGEST = { size: 1e9, name: 'G' };
const UNITS = [{ size: 1e3, name: 'k' }, { size: 1e6, name: 'M' }, LARGEST];

export function exactText(count: number): string {
  return count.toLocaleString('en-US');
}

export function moneyText(usd: number): string {
  return usd > 0 && usd < 0.01 ? '< $0.01' : `$${usd.toFixed(2)}`;
}

/** `4,812 of 5,000` */
export function quotaText({ remaining, limit }: { readonly remaining: number; readonly limit: number | null }): string {
  return limit === null ? exactText(remaining) : `${exactText(remaining)} of ${exactText(limit)}`;
}

/** `2026-01-31 12:00:05 UTC` */
export function utcText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `01-31 12:00 UTC` */
export function minuteText(epochMs: number): string {
  return Number.isFinite(epochMs) ? `${new Date(epochMs).toISOString().slice(5, 16).replace('T', ' ')} UTC` : '';
}

/** Names of reasons, states of runs and events as words: `no_global_slot` reads `no global slot`. */
export function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
