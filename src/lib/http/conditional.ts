import { mergedHeaders } from './reply-headers.ts';
import type { HttpResponse } from './response.ts';

/** Remembers answers that carried an `ETag`, so that an unchanged one costs no body (and, at some forges, no quota). */
export interface ConditionalCache {
  get(url: string): CachedResponse | undefined;
  /** Keeps a complete 200 with an ETag; anything else forgets what was known of the address. */
  put(url: string, response: HttpResponse): void;
  readonly size: number;
}

export interface CachedResponse {
  readonly etag: string;
  readonly response: HttpResponse;
}

export interface ConditionalCacheSettings {
  readonly maxEntries?: number;
  /** Of all bodies together. */
  readonly maxBytes?: number;
}

/** Least recently used goes first. */
export function createConditionalCache({
  maxEntries = 500,
  maxBytes = 32 * 1024 * 1024,
}: ConditionalCacheSettings = {}): ConditionalCache {
  const entries = new Map<string, CachedResponse & { bytes: number }>();
  let total = 0;

  const forget = (url: string): void => {
    total -= entries.get(url)?.bytes ?? 0;
    entries.delete(url);
  };
  return {
    get: (url) => {
      const entry = entries.get(url);
      if (!entry) return undefined;
      entries.delete(url);
      entries.set(url, entry);
      return entry;
    },
    put: (url, response) => {
      forget(url);
      const etag = response.headers.get('etag');
      if (!etag || response.status !== 200 || response.truncated) return;
      const bytes = Buffer.byteLength(response.body);
      if (bytes > maxBytes) return;
      entries.set(url, { etag, response, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && total <= maxBytes) break;
        forget(oldest);
      }
    },
    get size() {
      return entries.size;
    },
  };
}

/** The remembered answer in place of a 304, with the headers the 304 brought up to date (RFC 9111, section 3.2). */
export function revived(cached: CachedResponse, notModified: HttpResponse): HttpResponse {
  const headers = mergedHeaders(cached.response.headers, notModified.headers, 'content-length');
  return { ...cached.response, headers, revalidated: true };
}
