import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ClientConnection } from '../events-stream.ts';

/** Every error code of the HTTP side with its status. */
export const ERROR_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  bad_signature: 401,
  forbidden_host: 403,
  forbidden_origin: 403,
  not_found: 404,
  issue_not_found: 404,
  run_not_found: 404,
  method_not_allowed: 405,
  not_possible_now: 409,
  body_too_large: 413,
  too_many_tries: 429,
  internal_error: 500,
  too_many_streams: 503,
  snapshot_unavailable: 503,
  database_unavailable: 503,
} as const satisfies Record<string, ContentfulStatusCode>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** The one shape of every error: `{ error: { code, message } }`. */
export function errorBody(code: string, message: string) {
  return { error: { code, message } };
}

export function fail(c: Context, code: ErrorCode, message: string): Response {
  return c.json(errorBody(code, message), ERROR_STATUS[code]);
}

/** An answer that needs nothing of its request: the same with the framework and without. */
export interface JsonAnswer {
  readonly status: ContentfulStatusCode;
  /** JSON; as bytes where it is large, in pieces of which some are used again. */
  readonly body: string | readonly Uint8Array[];
}

export function failure(code: ErrorCode, message: string): JsonAnswer {
  return { status: ERROR_STATUS[code], body: JSON.stringify(errorBody(code, message)) };
}

export function sendJson(c: Context<{ Bindings: ClientConnection }>, { status, body }: JsonAnswer): Response {
  if (typeof body === 'string') return c.body(body, status, JSON_TYPE);
  const headers = { ...JSON_TYPE, 'Content-Length': String(lengthOf(body)) };
  if (c.env?.outgoing === undefined) return c.body(Buffer.concat(body), status, headers);
  c.env.pieces = body;
  return c.body(null, status, headers);
}

/** In bytes. */
export function lengthOf(body: JsonAnswer['body']): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
