import { type BodyBound, type BodyListener, type BodySink, gatherBody, type ReadBody } from './body.ts';
import { HttpTransportError, transportErrorOf } from './errors.ts';
import { proxyFor } from './proxy.ts';
import { type ReplyHeaders, replyHeaders } from './reply-headers.ts';
import { ACCEPTED_CODINGS, unpacked } from './unpack.ts';

/** Not a byte of the request has left. */
export class NotSent extends Error {}

export interface Outgoing {
  readonly method: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** Asked when the connection stands, right before the request is written to it: it fails by a NotSent where that says no. */
  readonly maySend?: () => boolean;
  readonly boundOf: (status: number) => BodyBound;
}

export interface Incoming extends ReadBody {
  readonly status: number;
  readonly headers: ReplyHeaders;
}

/**
 * One request and its whole answer over the connections of the built-in `fetch`, and through the proxies that were set for
 * it. The objects and streams that `fetch` itself makes for each request take several times as long as the exchange.
 */
export function send(url: URL, outgoing: Outgoing): Promise<Incoming> {
  const { method, body } = outgoing;
  return new Promise((resolve, reject) => {
    outgoing.signal.throwIfAborted();
    connections().dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { ...USUAL, ...outgoing.headers },
        body: body ?? null,
      },
      receiver(url, outgoing, resolve, reject),
    );
  });
}

/** What is sent where the request does not say otherwise. */
const USUAL = { accept: '*/*', 'accept-encoding': ACCEPTED_CODINGS, 'user-agent': 'node' };

type Abort = (reason?: Error) => void;

/** Told of an exchange, in the words of the library inside of Node. What it answers says whether more may come. */
interface Handler {
  onConnect(abort: Abort): void;
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

interface Dispatcher {
  dispatch(options: object, handler: Handler): boolean;
}

/** Where `fetch` keeps what makes its connections, also after a proxy was set. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

function connections(): Dispatcher {
  // It is there from the moment that something of `fetch` was first looked at.
  if (!Reflect.has(globalThis, DISPATCHER)) void new Headers();
  return Reflect.get(globalThis, DISPATCHER) as Dispatcher;
}

/** The answer when it is whole, or what went wrong. The first of both counts. */
function receiver(
  url: URL,
  { method, signal, maySend, boundOf }: Outgoing,
  resolve: (answer: Incoming) => void,
  reject: (error: unknown) => void,
): Handler {
  let abort: Abort | null = null;
  let answer: Pick<Incoming, 'status' | 'headers'> | null = null;
  let sink: BodySink | null = null;
  let isOver = false;
  const settle = (): boolean => {
    if (isOver) return false;
    isOver = true;
    signal.removeEventListener('abort', cancel);
    return true;
  };
  const give = (error: unknown): void => void (settle() && reject(error));
  // The connection is given up rather than drained: nobody knows how much there is still to come.
  const giveUp = (error: Error): void => {
    give(error);
    abort?.(error);
  };
  function cancel(): void {
    giveUp(signal.reason as Error);
  }
  const listener: BodyListener = {
    done(read) {
      if (answer !== null && settle()) resolve({ ...answer, ...read });
      if (read.truncated) abort?.(new Error('the rest is not read'));
    },
    failed: (error) => giveUp(error instanceof HttpTransportError ? error : transportErrorOf(error, 'body')),
  };
  signal.addEventListener('abort', cancel, { once: true });
  return {
    onConnect(stop) {
      abort = stop;
      if (isOver) stop(new Error('given up'));
      else if (maySend?.() === false) giveUp(new NotSent());
    },
    onHeaders(status, raw, resume) {
      // What comes before the answer, such as 100 and 103.
      if (status < 200) return true;
      const headers = replyHeaders(raw);
      answer = { status, headers };
      const plain = gatherBody(boundOf(status), listener);
      const codings = method === 'HEAD' ? null : headers.get('content-encoding');
      sink = codings ? unpacked(codings, plain, listener, resume) : plain;
      return true;
    },
    onData: (chunk) => sink?.take(chunk) ?? true,
    onComplete: () => sink?.end(),
    onError(error) {
      give(answer === null ? transportErrorOf(error, 'request', proxyFor(url, process.env)) : transportErrorOf(error, 'body'));
    },
  };
}
