import type { Context } from 'hono';

/** The body of a request; null when there is more of it than may be, and the rest is then not read. */
export async function readRequestBody(c: Context, maxBytes: number): Promise<Buffer | null> {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (c.req.raw.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
