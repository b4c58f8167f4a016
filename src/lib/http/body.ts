import { isAscii } from 'node:buffer';
import { HttpTransportError } from './errors.ts';

export interface ReadBody {
  readonly body: string;
  /** There was more than was read. */
  readonly truncated: boolean;
}

/** How much of a body is read, in bytes, and what to do with a longer one: keep its beginning, or call the answer broken. */
export interface BodyBound {
  readonly bytes: number;
  readonly overflow: 'cut' | 'fail';
}

/** What takes a body as it comes. */
export interface BodySink {
  /** False where nothing more should come until it asks for more. */
  take(chunk: Buffer): boolean;
  end(): void;
}

/** Hears how a body ended. */
export interface BodyListener {
  done(read: ReadBody): void;
  failed(error: Error): void;
}

/** Gathers a body up to a bound, cut between two characters. What comes after that is left alone. */
export function gatherBody({ bytes, overflow }: BodyBound, listener: BodyListener): BodySink {
  const chunks: Buffer[] = [];
  let left = bytes;
  return {
    take(chunk) {
      if (left < 0) return true;
      chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk);
      left -= chunk.length;
      if (left >= 0) return true;
      if (overflow === 'fail') listener.failed(new HttpTransportError(`the answer is longer than ${bytes} bytes`));
      else listener.done({ body: beginningOf(chunks), truncated: true });
      return true;
    },
    end() {
      if (left >= 0) listener.done({ body: textOf(joined(chunks)), truncated: false });
    },
  };
}

/** Most answers are ASCII alone, which needs no decoding. */
function textOf(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : new TextDecoder().decode(bytes);
}

function beginningOf(chunks: readonly Buffer[]): string {
  // `stream` holds back the bytes of a character that the bound cut in half. It takes five times as long.
  return new TextDecoder().decode(joined(chunks), { stream: true });
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
