import { JsonRpcClosedError, JsonRpcTimeoutError, JsonRpcUnreadableError } from './errors.ts';
import type { Send } from './outbox.ts';
import type { RpcId } from './wire.ts';

export interface RequestOptions {
  /** Without end unless given. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What we asked the other side. An answer that nobody waits for any more is ignored. */
export interface Asking {
  ask(method: string, params: unknown, options: RequestOptions): Promise<unknown>;
  succeed(id: RpcId, result: unknown): void;
  fail(id: RpcId, error: Error): void;
  /** Something came for this id that cannot be read. */
  lose(id: RpcId): void;
  close(reason: string): void;
}

interface Waiting {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export function createAsking(send: Send): Asking {
  const waiting = new Map<RpcId, Waiting>();
  let lastId = 0;
  let closedBecause: string | null = null;

  function ask(method: string, params: unknown, { timeoutMs, signal }: RequestOptions): Promise<unknown> {
    if (closedBecause !== null) return Promise.reject(new JsonRpcClosedError(closedBecause));
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const id = (lastId += 1);
    return new Promise((resolve, reject) => {
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(() => fail(id, new JsonRpcTimeoutError(method, timeoutMs)), timeoutMs);
      const abort = (): void => fail(id, signal?.reason as Error);
      signal?.addEventListener('abort', abort, { once: true });
      function leave(): void {
        waiting.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
      waiting.set(id, { method, resolve: (result) => (leave(), resolve(result)), reject: (error) => (leave(), reject(error)) });
      send({ id, method, ...(params === undefined ? {} : { params }) });
    });
  }

  function fail(id: RpcId, error: Error): void {
    waiting.get(id)?.reject(error);
  }

  return {
    ask,
    succeed: (id, result) => waiting.get(id)?.resolve(result),
    fail,
    lose(id) {
      const asked = waiting.get(id);
      asked?.reject(new JsonRpcUnreadableError(asked.method));
    },
    close(reason) {
      closedBecause = reason;
      for (const { reject } of waiting.values()) reject(new JsonRpcClosedError(reason));
    },
  };
}
