import { JsonRpcError, RPC_CODES } from './errors.ts';
import type { Send } from './outbox.ts';
import { errorMember, type RpcId } from './wire.ts';

/** What the other side asked us. Every request gets exactly one answer, whenever it comes. */
export interface Answering {
  answer(id: RpcId, method: string, params: unknown): void;
  refuse(id: RpcId, code: number, message: string): void;
  close(reason: string): void;
}

/** More unanswered requests than this are no conversation. */
const MAX_OPEN = 1000;

export function createAnswering(onRequest: (method: string, params: unknown) => unknown, send: Send): Answering {
  const open = new Set<RpcId>();
  let closedBecause: string | null = null;

  function refuse(id: RpcId, code: number, message: string): void {
    send({ id, error: errorMember(new JsonRpcError(code, message)) });
  }

  /** A handler that throws before it waits answers like one that rejects. */
  async function handle(method: string, params: unknown): Promise<Readonly<Record<string, unknown>>> {
    try {
      return { result: (await onRequest(method, params)) ?? null };
    } catch (error) {
      return { error: errorMember(error) };
    }
  }

  return {
    answer(id, method, params) {
      // The id of an open request again: an answer could belong to either.
      if (open.has(id)) return;
      if (closedBecause !== null) return refuse(id, RPC_CODES.serverError, closedBecause);
      if (open.size >= MAX_OPEN) return refuse(id, RPC_CODES.serverError, 'too many unanswered requests');
      open.add(id);
      void handle(method, params).then((members) => {
        if (open.delete(id)) send({ id, ...members });
      });
    },
    refuse,
    close(reason) {
      closedBecause = reason;
      for (const id of open) refuse(id, RPC_CODES.serverError, reason);
      open.clear();
    },
  };
}
