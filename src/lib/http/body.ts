import { HttpTransportError, transportErrorOf } from './errors.ts';

export interface ReadBody {
  readonly body: string;
  /** There was more than was read. */
  readonly truncated: boolean;
}

/** What to do with a body longer than the bound: keep its beginning, or call the answer broken. */
export type Overflow = 'cut' | 'fail';

/** Reads a body up to a bound in bytes, cut between two characters, and lets go of the rest. */
export async function readBody(response: Response, bound: number, overflow: Overflow): Promise<ReadBody> {
  if (!response.body) return { body: '', truncated: false };
  const reader: Reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let left = bound;
  for (;;) {
    const { done, value } = await readChunk(reader);
    if (done) return { body: new TextDecoder().decode(joined(chunks)), truncated: false };
    chunks.push(value.subarray(0, left));
    left -= value.length;
    if (left < 0) break;
  }
  // The connection is given up rather than drained: nobody knows how much there is still to come.
  await reader.cancel().catch(() => undefined);
  if (overflow === 'fail') throw new HttpTransportError(`the answer is longer than ${bound} bytes`);
  return { body: beginningOf(chunks), truncated: true };
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function readChunk(reader: Reader): ReturnType<Reader['read']> {
  try {
    return await reader.read();
  } catch (error) {
    throw transportErrorOf(error, 'body');
  }
}

function beginningOf(chunks: readonly Uint8Array[]): string {
  // `stream` holds back the bytes of a character that the bound cut in half. It takes five times as long.
  return new TextDecoder().decode(joined(chunks), { stream: true });
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
