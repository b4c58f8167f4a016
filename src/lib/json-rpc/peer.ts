import { createAnswering } from './answering.ts';
import { createAsking, type RequestOptions } from './asking.ts';
import { RPC_CODES } from './errors.ts';
import { createOutbox } from './outbox.ts';
import { readMessage, type Envelope, type Incoming, type Unreadable } from './wire.ts';

export interface JsonRpcPeerOptions {
  /**
   * Hands one message over, without its line break. Must not wait. A promise tells when it was taken, or false: that
   * it never will be. How much may be on its way is bounded.
   */
  readonly send: (line: string) => Promise<boolean> | void;
  /** Answers a request of the other side. What it throws is an answer too: throw a JsonRpcError to choose it. */
  readonly onRequest: (method: string, params: unknown) => unknown;
  readonly onNotification: (method: string, params: unknown) => void;
  /** A line that is no message, or one that is damaged or too long. */
  readonly onUnreadable?: (line: string, why: Unreadable) => void;
  readonly envelope: Envelope;
  /** Longer lines are not parsed; 1 MiB unless given. */
  readonly maxLineLength?: number;
  /** How much may wait for the other side to read it before the connection counts as dead; 16 MiB unless given. */
  readonly maxPendingLength?: number;
}

/** One end of a connection where both sides may ask and tell. */
export interface JsonRpcPeer {
  /**
   * Asks, and resolves with the result. Rejects with JsonRpcError (the other side's), JsonRpcTimeoutError,
   * JsonRpcUnreadableError, JsonRpcClosedError, or the signal's reason.
   */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** Tells. Never fails: a closed connection hears nothing. */
  notify(method: string, params?: unknown): void;
  /** One line of the other side, which may hold anything. Handlers start before this returns: messages keep their order. */
  receive(line: string): void;
  /**
   * Ends the conversation: what we asked is rejected; what we were asked and have not answered is answered with an
   * error, and so is whatever is asked later. Safe to repeat; the first reason stays.
   */
  close(reason: string): void;
  /** Resolves with the reason when the conversation is over, by us or because the other side does not read. */
  readonly closed: Promise<string>;
}

const MAX_LINE_LENGTH = 1024 * 1024;
const MAX_PENDING_LENGTH = 16 * 1024 * 1024;

/** A JSON-RPC peer over lines. It owns no stream and no process: it is fed with `receive` and speaks through `send`. */
export function createJsonRpcPeer(options: JsonRpcPeerOptions): JsonRpcPeer {
  const { maxLineLength = MAX_LINE_LENGTH, maxPendingLength = MAX_PENDING_LENGTH } = options;
  const send = createOutbox({ send: options.send, envelope: options.envelope, maxPendingLength, onBroken: close });
  const asking = createAsking(send);
  const answering = createAnswering(options.onRequest, send);
  let isClosed = false;
  let tellClosed = (_reason: string): void => {};
  const closed = new Promise<string>((resolve) => (tellClosed = resolve));

  function receive(line: string): void {
    const message = readMessage(line, maxLineLength);
    switch (message.type) {
      case 'request':
        return answering.answer(message.id, message.method, message.params);
      case 'notification':
        return isClosed ? undefined : options.onNotification(message.method, message.params);
      case 'result':
        return asking.succeed(message.id, message.result);
      case 'error':
        return asking.fail(message.id, message.error);
      case 'unreadable':
        return line.trim() === '' ? undefined : giveUpOn(message, line);
    }
  }

  /** Nobody shall wait for what was lost: neither the other side for our answer, nor we for its. */
  function giveUpOn({ id, method, why }: Extract<Incoming, { type: 'unreadable' }>, line: string): void {
    if (id !== null && method !== null) answering.refuse(id, RPC_CODES.invalidRequest, `the request is ${why}`);
    else if (id !== null) asking.lose(id);
    options.onUnreadable?.(line, why);
  }

  function close(reason: string): void {
    if (isClosed) return;
    isClosed = true;
    answering.close(reason);
    asking.close(reason);
    tellClosed(reason);
  }

  return {
    request: (method, params, requestOptions = {}) => asking.ask(method, params, requestOptions),
    notify(method, params) {
      if (!isClosed) send({ method, ...(params === undefined ? {} : { params }) });
    },
    receive,
    close,
    closed,
  };
}
