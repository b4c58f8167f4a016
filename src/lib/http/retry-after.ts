/** No vendor asks for more; one broken header of a proxy must not keep us away for years. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** What a `Retry-After` header asks for in milliseconds from `now`, a day at most: seconds or an HTTP date. Null when it says nothing usable. */
export function parseRetryAfter(value: string | null | undefined, now: number): number | null {
  const asked = askedMs(value?.trim() ?? '', now);
  return asked === null ? null : Math.min(LONGEST_MS, asked);
}

function askedMs(said: string, now: number): number | null {
  if (/^\d{1,12}(\.\d+)?$/.test(said)) return Math.ceil(Number(said) * 1000);
  // Date.parse takes far more than HTTP dates ("-5", "2"): all three HTTP forms begin with the name of a day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(said)) return null;
  const at = Date.parse(/gmt$/i.test(said) ? said : `${said} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
