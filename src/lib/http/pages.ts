import type { HttpResponse } from './response.ts';
import { HttpRefusedError } from './errors.ts';
import { parseLinkHeader } from './link.ts';

export interface PageSettings {
  /** How many pages are read at most. */
  readonly cap?: number;
  /** Called when the cap was reached and there would have been more. */
  readonly onCap?: (pages: number) => void;
}

/**
 * Reads page after page by the `next` link of each, followed exactly as given. `fetchPage` gets null for the first page.
 * A link to another origin is refused, since the credential would go along; a link seen before would never end.
 */
export async function* followPages(
  fetchPage: (next: string | null) => Promise<HttpResponse>,
  { cap = 200, onCap }: PageSettings = {},
): AsyncGenerator<HttpResponse, void, undefined> {
  const seen = new Set<string>();
  let next: string | null = null;
  for (let page = 1; ; page += 1) {
    const response: HttpResponse = await fetchPage(next);
    yield response;
    seen.add(next ?? response.url);
    next = parseLinkHeader(response.headers.get('link'), response.url).get('next') ?? null;
    if (next === null) return;
    if (page >= cap) return onCap?.(page);
    checkNext(next, response.url, seen);
  }
}

function checkNext(next: string, from: string, seen: ReadonlySet<string>): void {
  const { origin } = new URL(from);
  const target = new URL(next);
  if (target.origin !== origin) {
    throw new HttpRefusedError(
      `the next page is on another origin (${target.origin}), not followed from ${origin}: the credential would go along`,
    );
  }
  if (seen.has(next)) throw new HttpRefusedError('the next page is one that was read before');
}
