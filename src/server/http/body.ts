import type { Context } from 'hono';

/** What is too large is read on to its end up to this, and let go: a connection with unread bytes in it cannot be used again. */
const MOST_LET_GO = 16 * 1024 * 1024;

/** The body of a request; null when there is more of it than may be. */
export async function readRequestBody(c: Context, maxBytes: number): Promise<Buffer | null> {
  if (Number(c.req.header('content-length') ?? 0) > MOST_LET_GO) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (c.req.raw.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MOST_LET_GO) return null;
    if (size <= maxBytes) parts.push(part);
  }
  return size > maxBytes ? null : Buffer.concat(parts);
}
