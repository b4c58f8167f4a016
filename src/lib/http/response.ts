import type { ReplyHeaders } from './reply-headers.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** The address that answered, after redirects, without user and password. */
  readonly url: string;
  /** Its path without the query: what messages show. */
  readonly path: string;
  readonly body: string;
  /** The body was longer than what was read of it. */
  readonly truncated: boolean;
  /** A remembered answer that the remote said still holds. */
  readonly revalidated?: boolean;
  /** The body as JSON; throws a SyntaxError when it is none. */
  json(): unknown;
}
