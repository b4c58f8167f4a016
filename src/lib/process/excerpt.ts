/** The beginning and the end of a stream of bytes, in bounded memory whatever passes through. */
export interface Excerpt {
  add(chunk: Buffer): void;
  /** What was kept, with a note where something was left out. Each piece as it is shown: at a cut half a secret may stand. */
  text(shown?: (piece: string, cut: 'start' | 'end' | null) => string): string;
}

export interface ExcerptSize {
  readonly headBytes: number;
  readonly tailBytes: number;
}

export function createExcerpt({ headBytes, tailBytes }: ExcerptSize): Excerpt {
  const head: Buffer[] = [];
  let headSize = 0;
  // A ring, so that a flood of tiny chunks costs no more than one large one.
  let ring: Buffer | null = null;
  let tailTotal = 0;

  function addToTail(chunk: Buffer): void {
    ring ??= Buffer.alloc(tailBytes);
    const last = chunk.subarray(Math.max(0, chunk.length - tailBytes));
    const at = (tailTotal + chunk.length - last.length) % tailBytes;
    const fits = Math.min(last.length, tailBytes - at);
    last.copy(ring, at, 0, fits);
    last.copy(ring, 0, fits);
    tailTotal += chunk.length;
  }

  function tail(): Buffer {
    if (ring === null) return Buffer.alloc(0);
    const at = tailTotal % tailBytes;
    return tailTotal <= tailBytes ? ring.subarray(0, tailTotal) : Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  }

  return {
    add(chunk) {
      const toHead = chunk.subarray(0, headBytes - headSize);
      // Copied: a slice would keep the whole chunk in memory.
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headSize += toHead.length;
      if (toHead.length < chunk.length) addToTail(chunk.subarray(toHead.length));
    },
    text(shown = (piece) => piece) {
      const missing = Math.max(0, tailTotal - tailBytes);
      if (missing === 0) return shown(Buffer.concat([...head, tail()]).toString('utf8'), null);
      const [start, end] = [shown(wholeStart(Buffer.concat(head)), 'end'), shown(wholeEnd(tail()), 'start')];
      return `${start}\n[${missing} bytes left out]\n${end}`.trimStart();
    },
  };
}

/** Text of a beginning without the half character that a cut leaves at its end. */
export function wholeStart(bytes: Buffer): string {
  let end = bytes.length;
  while (end > 0 && end > bytes.length - 4 && isContinuation(bytes[end - 1])) end -= 1;
  const lead = bytes[end - 1] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  const complete = bytes.length - end + 1 >= needed;
  return bytes.toString('utf8', 0, complete ? bytes.length : end - 1);
}

/** Text of an end without the half character that a cut leaves at its start. */
function wholeEnd(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.toString('utf8', start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
