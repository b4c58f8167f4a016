/** The codes that JSON-RPC 2.0 reserves, see https://www.jsonrpc.org/specification#error_object. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
} as const;

/** An error as it travels: the other side answered with it, or a handler throws it to answer with it. */
export class JsonRpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'JsonRpcError';
    this.code = code;
    this.data = data;
  }
}

/** No answer came in time. A late one is ignored. */
export class JsonRpcTimeoutError extends Error {
  readonly method: string;

  constructor(method: string, timeoutMs: number) {
    super(`no answer to ${method} within ${timeoutMs} ms`);
    this.name = 'JsonRpcTimeoutError';
    this.method = method;
  }
}

/** The connection is over, and with it every request that was waiting. */
export class JsonRpcClosedError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'JsonRpcClosedError';
  }
}

/** An answer came that is damaged, or too long to be read. */
export class JsonRpcUnreadableError extends Error {
  readonly method: string;

  constructor(method: string) {
    super(`the answer to ${method} is damaged or too long to be read`);
    this.name = 'JsonRpcUnreadableError';
    this.method = method;
  }
}
