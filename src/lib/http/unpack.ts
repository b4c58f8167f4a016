import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { BodyListener, BodySink } from './body.ts';

/** What we say that we can unpack. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** More than any server does to one body. */
const MOST_CODINGS = 5;

/**
 * Undoes the codings of a body on its way into the sink. One that nobody knows leaves all as it came, which no reader takes
 * for JSON. `more` is called when there is room again.
 */
export function unpacked(codings: string, sink: BodySink, listener: BodyListener, more: () => void): BodySink {
  const names = codings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const makers = names.map((name) => UNPACKERS[name]);
  if (makers.length > MOST_CODINGS) throw new Error(`the body is packed ${makers.length} times`);
  let inner = sink;
  // The coding that was put on last is undone first, so that its part stands outermost.
  for (const make of makers) {
    if (make === undefined) return sink;
    inner = through(make, inner, listener, more);
  }
  return inner;
}

/** A body that breaks off in its last bytes is taken as it is, as everybody does. */
const LENIENT = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const LENIENT_BROTLI = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
};
const gunzip = (): Transform => zlib.createGunzip(LENIENT);

type Maker = (first: Buffer) => Transform;

const UNPACKERS: Readonly<Record<string, Maker>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some leave out the header that the standard asks for.
  deflate: ([first = 0]) => ((first & 15) === 8 ? zlib.createInflate(LENIENT) : zlib.createInflateRaw(LENIENT)),
  br: () => zlib.createBrotliDecompress(LENIENT_BROTLI),
};

/** Made with the first bytes: an empty body is not packed, whatever its headers say. */
function through(make: Maker, inner: BodySink, listener: BodyListener, more: () => void): BodySink {
  let stream: Transform | null = null;
  const begin = (first: Buffer): Transform => {
    const begun = make(first);
    begun.on('data', (chunk: Buffer) => inner.take(chunk));
    begun.on('end', () => inner.end());
    begun.on('error', listener.failed);
    begun.on('drain', more);
    return begun;
  };
  return {
    take(chunk) {
      stream ??= begin(chunk);
      return stream.write(chunk);
    },
    end: () => (stream === null ? inner.end() : void stream.end()),
  };
}
