import type { Transform } from 'node:stream';
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
  const makers = names.map((name) => (Object.hasOwn(UNPACKERS, name) ? UNPACKERS[name] : undefined));
  if (makers.length > MOST_CODINGS) throw new Error(`the body is packed ${makers.length} times`);
  let inner = sink;
  // The coding that was put on last is undone first, so that its part stands outermost.
  for (const make of makers) {
    if (make === undefined) return sink;
    inner = through(make, inner, listener, more);
  }
  return inner;
}

type Maker = (first: Buffer) => Transform;

// Loaded for this alone: most remotes near by send what they have as it is.
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** A body that breaks off in its last bytes is taken as it is, as everybody does. */
function lenient(): { flush: number; finishFlush: number } {
  const { Z_SYNC_FLUSH } = zlib().constants;
  return { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH };
}

const gunzip = (): Transform => zlib().createGunzip(lenient());

const UNPACKERS: Readonly<Record<string, Maker>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some leave out the header that the standard asks for.
  deflate: ([first = 0]) => ((first & 15) === 8 ? zlib().createInflate(lenient()) : zlib().createInflateRaw(lenient())),
  br: () => {
    const { BROTLI_OPERATION_FLUSH } = zlib().constants;
    return zlib().createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH });
  },
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
