import { setImmediate as nextTurn } from 'node:timers/promises';
import { wholeStart } from './excerpt.ts';

/** After this much work in one go the event loop gets its turn. */
const YIELD_AFTER_MS = 8;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Splits bytes into lines, linear in their number. One line is held at most up to `maxLineBytes`: what exceeds it is
 * dropped and the line says so at its end. Other work is let in between, however many lines a chunk has.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<string, void, void> {
  const splitter = createSplitter(maxLineBytes);
  let resumedAt = performance.now();
  for await (const chunk of chunks) {
    for (const line of splitter.push(chunk)) {
      yield line;
      if (performance.now() - resumedAt > YIELD_AFTER_MS) {
        await nextTurn();
        resumedAt = performance.now();
      }
    }
  }
  const rest = splitter.rest();
  if (rest !== null) yield rest;
}

interface Splitter {
  /** The lines that this chunk completes. */
  push(chunk: Buffer): Iterable<string>;
  /** The last line, when no line break ended it. */
  rest(): string | null;
}

function createSplitter(maxLineBytes: number): Splitter {
  let parts: Buffer[] = [];
  let kept = 0;
  let dropped = 0;

  function hold(part: Buffer): void {
    const room = part.subarray(0, maxLineBytes - kept);
    if (room.length > 0) parts.push(room);
    kept += room.length;
    dropped += part.length - room.length;
  }

  function take(): string {
    const bytes = parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
    const line = dropped > 0 ? `${wholeStart(bytes)} [line cut, ${dropped} bytes left out]` : textOf(bytes);
    parts = [];
    kept = 0;
    dropped = 0;
    return line;
  }

  return {
    *push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        hold(chunk.subarray(from, at));
        from = at + 1;
        yield take();
      }
      if (from < chunk.length) hold(chunk.subarray(from));
    },
    rest: () => (kept + dropped > 0 ? take() : null),
  };
}

/** Without the carriage return of a CRLF. */
function textOf(bytes: Buffer): string {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  return bytes.toString('utf8', 0, end);
}
