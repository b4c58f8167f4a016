import type { HttpResponse } from '../../lib/http/index.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { TrackerHttp } from './http.ts';

/** How many pages of one list are read at most, unless its reader says otherwise. */
const PAGE_CAP = 50;

export interface NumberedList {
  readonly path: string;
  /** The entries of one answer, unread. */
  readonly entries: (response: HttpResponse) => readonly unknown[];
  /** How many entries, at least, the remote takes out of its pages after it cut them. */
  readonly hidden?: number;
  /** True: a next link, where there is one, is followed, and pages are counted only where there is none. */
  readonly linked?: boolean;
  /** True: the route sends the whole list whatever page is asked for. */
  readonly whole?: boolean;
  readonly pageCap?: number;
}

export interface PageReader {
  readonly http: TrackerHttp;
  readonly logger: Logger;
  /** Canonical kind, for log records. */
  readonly kind: string;
  /** How many entries of a page are asked for. */
  readonly pageSize: number;
}

/**
 * A list without next links, or one that has them on some servers only: page after page by number until a short one. Two habits of the remote are allowed for. Some
 * routes send the whole list whatever page is asked for. And entries that are not shown are taken out of a page after it was
 * cut, so that it is short without being the last: where the header tells a larger total more is to come, and where the
 * caller knows of `hidden` ones only a page without anything new is the end.
 */
export async function readNumbered(
  { http, logger, kind, pageSize }: PageReader,
  list: NumberedList,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const { path, hidden = 0, linked = false, whole = false, pageCap = PAGE_CAP } = list;
  const mayRepeat = linked || whole;
  const read = createCollection();
  let next: string | undefined;
  for (let page = 1; page <= pageCap; page += 1) {
    const numbered = { path, query: { page: linked && page === 1 ? undefined : page, limit: pageSize } };
    const response: HttpResponse = await http.send('GET', next === undefined ? numbered : { url: next }, signal);
    const entries = list.entries(response);
    const added = read.add(entries);
    next = linked ? http.nextLink(response) : undefined;
    if (next !== undefined && added > 0) continue;
    const total = Number(response.headers.get('x-total-count')) || 0;
    const counted = !linked || response.headers.get('link') === null;
    if (!counted || isLast({ page, pageSize, hidden, mayRepeat, total, added, size: entries.length, read: read.all.length }))
      return read.all;
  }
  const facts = { tracker_kind: kind, endpoint: path, pages: pageCap };
  logger.warn('tracker list reached the page cap, the rest is left out', facts);
  return read.all;
}

interface Progress {
  readonly page: number;
  readonly pageSize: number;
  readonly hidden: number;
  /** Whether a page without anything new says that there is no more. */
  readonly mayRepeat: boolean;
  readonly total: number;
  /** Entries of this page, and how many of them were not seen before. */
  readonly size: number;
  readonly added: number;
  /** Entries of all pages so far. */
  readonly read: number;
}

function isLast({ page, pageSize, hidden, mayRepeat, total, size, added, read }: Progress): boolean {
  if (hidden > 0) return added === 0 && page * pageSize > read + hidden;
  if (size > pageSize || (added === 0 && (mayRepeat || size < pageSize))) return true;
  return size < pageSize && read >= total;
}

/** Everything read, each id once. */
function createCollection() {
  const ids = new Set<unknown>();
  const all: unknown[] = [];
  return {
    all: all as readonly unknown[],
    add: (entries: readonly unknown[]): number => {
      const fresh = entries.filter((entry) => !ids.has(idOf(entry)));
      for (const entry of fresh) ids.add(idOf(entry));
      all.push(...fresh);
      return fresh.length;
    },
  };
}

// What has no id is only the same as itself.
function idOf(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'id' in entry && typeof entry.id === 'number' ? entry.id : {};
}
