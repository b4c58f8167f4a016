import type { Dispatcher } from 'undici';
import { type BodyBound, type BodyListener, type BodySink, gatherBody, type ReadBody } from './body.ts';
import { connections } from './connections.ts';
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
  /** Where it ends by itself: after how long, and as what. */
  readonly timeout: { readonly ms: number; readonly error: () => Error } | null;
  /** Asked when the connection stands, right before the request is written to it: it fails by a NotSent where that says no. */
  readonly maySend?: () => boolean;
  readonly boundOf: (status: number) => BodyBound;
}

export interface Incoming extends ReadBody {
  readonly status: number;
  readonly headers: ReplyHeaders;
}

/** One request and its whole answer. The objects and streams that `fetch` makes for each take several times as long as the exchange. */
export async function send(url: URL, outgoing: Outgoing): Promise<Incoming> {
  const dispatcher = await connections();
  outgoing.signal.throwIfAborted();
  const { method, body } = outgoing;
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: method as Dispatcher.HttpMethod,
        headers: { ...USUAL, ...outgoing.headers },
        body: body ?? null,
      },
      receiver(url, outgoing, resolve, reject),
    );
  });
}

/** What is sent where the request does not say otherwise. */
const USUAL = { accept: '*/*', 'accept-encoding': ACCEPTED_CODINGS, 'user-agent': 'node' };

/** The answer when it is whole, or what went wrong. The first of both counts. */
function receiver(
  url: URL,
  { method, signal, timeout, maySend, boundOf }: Outgoing,
  resolve: (answer: Incoming) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let exchange: Dispatcher.DispatchController | null = null;
  let answer: Pick<Incoming, 'status' | 'headers'> | null = null;
  let sink: BodySink | null = null;
  let isOver = false;
  const settle = (): boolean => {
    if (isOver) return false;
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    return true;
  };
  const give = (error: unknown): void => void (settle() && reject(error));
  // The connection is given up rather than drained: nobody knows how much there is still to come.
  const giveUp = (error: Error): void => {
    give(error);
    exchange?.abort(error);
  };
  function cancel(): void {
    giveUp(signal.reason as Error);
  }
  const listener: BodyListener = {
    done(read) {
      if (answer !== null && settle()) resolve({ ...answer, ...read });
      if (read.truncated) exchange?.abort(new Error('the rest is not read'));
    },
    failed: (error) => giveUp(error instanceof HttpTransportError ? error : transportErrorOf(error, 'body')),
  };
  const timer = timeout === null ? undefined : setTimeout(() => giveUp(timeout.error()), timeout.ms);
  signal.addEventListener('abort', cancel, { once: true });
  return {
    onRequestStart(controller) {
      exchange = controller;
      if (isOver) controller.abort(new Error('given up'));
      else if (maySend?.() === false) giveUp(new NotSent());
    },
    onResponseStart(controller, status, came) {
      // What comes before the answer, such as 100 and 103.
      if (status < 200) return;
      const headers = replyHeaders(came);
      answer = { status, headers };
      const plain = gatherBody(boundOf(status), listener);
      const codings = method === 'HEAD' ? null : headers.get('content-encoding');
      sink = codings ? unpacked(codings, plain, listener, () => controller.resume()) : plain;
    },
    onResponseData(controller, chunk) {
      if (sink?.take(chunk) === false) controller.pause();
    },
    onResponseEnd: () => sink?.end(),
    onResponseError(_, error) {
      give(answer === null ? transportErrorOf(error, 'request', proxyFor(url, process.env)) : transportErrorOf(error, 'body'));
    },
  };
}
