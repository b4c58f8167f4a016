import type { HttpResponse } from './response.ts';
import { HttpRefusedError } from './errors.ts';
import { parseLinkHeader } from './link.ts';

export interface PageSettings {
  /** How many pages are read at most. */
  readonly cap?: number;
  /** Called when the cap was reached and there would have been more. */
  readonly onCap?: (pages: number) => void;
  /** Where a next link leads instead: for a remote that writes its links with a name of its own. */
  readonly rewrite?: (next: string) => string;
}

/**
 * Reads page after page by the `next` link of each, followed as given unless `rewrite` says otherwise. `fetchPage` gets null for the first page.
 * A link to another origin is refused, since the credential would go along. Links that run in circles end at the cap.
 */
export async function* followPages(
  fetchPage: (next: string | null) => Promise<HttpResponse>,
  { cap = 200, onCap, rewrite = (next) => next }: PageSettings = {},
): AsyncGenerator<HttpResponse, void, undefined> {
  let next: string | null = null;
  for (let page = 1; ; page += 1) {
    const response: HttpResponse = await fetchPage(next);
    yield response;
    const link = parseLinkHeader(response.headers.get('link'), response.url).get('next');
    if (link === undefined) return;
    next = rewrite(link);
    if (page >= cap) return onCap?.(page);
    checkOrigin(next, response.url);
  }
}

function checkOrigin(next: string, from: string): void {
  const { origin } = new URL(from);
  const target = new URL(next);
  if (target.origin !== origin) {
    throw new HttpRefusedError(
      `the next page is on another origin (${target.origin}), not followed from ${origin}: the credential would go along`,
    );
  }
}

/**
 * A link on the origin of `base`, with its own path and query: a server that is reached by another name than the one it
 * knows itself by links to that name. What stands before `suffix` in the path is the base's too, since a proxy may add to it.
 */
export function onOrigin(link: string, base: string, suffix: string): string {
  const { pathname, search } = new URL(link, base);
  const target = new URL(base);
  const at = pathname.indexOf(`${suffix}/`);
  const below = at === -1 ? pathname : target.pathname.replace(/\/+$/, '') + pathname.slice(at + suffix.length);
  return `${target.origin}${pathname.startsWith(`${target.pathname}/`) ? pathname : below}${search}`;
}
