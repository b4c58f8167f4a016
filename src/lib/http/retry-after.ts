/** What a `Retry-After` header asks for in milliseconds from `now`: seconds or an HTTP date. Null when it says nothing usable. */
export function parseRetryAfter(value: string | null | undefined, now: number): number | null {
  const said = value?.trim() ?? '';
  if (/^\d{1,12}(\.\d+)?$/.test(said)) return Math.ceil(Number(said) * 1000);
  // Date.parse takes far more than HTTP dates ("-5", "2"): all three HTTP forms begin with the name of a day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(said)) return null;
  const at = Date.parse(/gmt$/i.test(said) ? said : `${said} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** No vendor asks for more; one broken header of a proxy must not keep us away for years. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/** How long is waited for what was asked. */
export function boundedWait(askedMs: number): number {
  return Math.min(askedMs, LONGEST_WAIT_MS);
}
