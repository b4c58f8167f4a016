import type { Context } from 'hono';
import type { IssueRequestKind, OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import { shortText } from '../../lib/short-text.ts';
import type { Daemon } from '../../ports/daemon.ts';
import type { Access } from '../access/access.ts';
import { readRequestBody } from '../http/body.ts';
import { fail, isoTime } from '../http/envelope.ts';

const MAX_BODY_BYTES = 16 * 1024;
const MAX_REASON = 500;

/** `POST /api/v2/issues/{identifier}/{stop|retry|unpark}`: 202 with what was asked, 404 for an unknown issue, 409 where it makes no sense. */
export function postIssueRequest(daemon: Daemon, access: Access, kind: IssueRequestKind) {
  return (c: Context): Promise<Response> => carryOut(c, daemon, access, { kind, identifier: c.req.param('identifier') ?? '' });
}

/** The body may be empty or `{ "reason": "…" }`. */
export function postPause(daemon: Daemon, access: Access) {
  return async (c: Context): Promise<Response> => {
    const body = await readRequestBody(c, MAX_BODY_BYTES);
    if (body === null) return fail(c, 'body_too_large', `The body may have ${MAX_BODY_BYTES} bytes.`);
    const reason = reasonOf(body.toString(), daemon.mask);
    if (reason === null) return fail(c, 'bad_request', 'The body must be empty or JSON such as {"reason": "release day"}.');
    return carryOut(c, daemon, access, { kind: 'pause', reason });
  };
}

export function postResume(daemon: Daemon, access: Access) {
  return (c: Context): Promise<Response> => carryOut(c, daemon, access, { kind: 'resume' });
}

async function carryOut(c: Context, daemon: Daemon, access: Access, request: OperatorRequest): Promise<Response> {
  if (daemon.isDraining()) return fail(c, 'not_possible_now', 'The service is stopping. Ask again when it has started.');
  const by = access.operatorOf(c);
  const requested_at = isoTime(daemon.clock.now());
  const { outcome, message } = await daemon.ask(request, by);
  if (outcome === 'unknown') return fail(c, 'issue_not_found', sentence(message, request));
  if (outcome === 'refused') return fail(c, 'not_possible_now', sentence(message, request));
  return c.json({ requested: request.kind, ...subjectOf(request), requested_at, by, message: sentence(message, request) }, 202);
}

function subjectOf(request: OperatorRequest): { issue_identifier?: string; reason?: string } {
  if ('identifier' in request) return { issue_identifier: request.identifier };
  return 'reason' in request ? { reason: request.reason } : {};
}

/** Null when the body is something else. Masked before it is cut: half a secret is not known for one. */
function reasonOf(body: string, mask: Daemon['mask']): string | null {
  if (body.trim() === '') return '';
  try {
    const sent: unknown = JSON.parse(body);
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return null;
    const { reason = '' } = sent as { readonly reason?: unknown };
    return typeof reason === 'string' ? shortText(mask(reason.trim()), MAX_REASON) : null;
  } catch {
    return null;
  }
}

/** A sentence of its own; a name that it begins with stays as it is written. */
function sentence(message: OperatorAnswer['message'], request: OperatorRequest): string {
  const beginsWithName = 'identifier' in request && message.startsWith(request.identifier);
  return `${beginsWithName ? message : `${message.charAt(0).toUpperCase()}${message.slice(1)}`}${/[.!?]$/.test(message) ? '' : '.'}`;
}
