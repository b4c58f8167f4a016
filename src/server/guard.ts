import type { Context, MiddlewareHandler } from 'hono';
import { fail } from './envelope.ts';

/** Sent with every answer, errors included. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

export type Method = 'GET' | 'POST';

const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

export function secureAnswers(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.res.headers.set(name, value);
  };
}

/**
 * Refuses names that merely resolve to this machine: a page of another site could otherwise point its own name here and
 * read everything (DNS rebinding). A request target in absolute form names a host of its own, so both are looked at.
 */
export function guardHost(): MiddlewareHandler {
  return async (c, next) => {
    if (LOCAL_HOST.test(hostOf(c)) && LOCAL_HOST.test(new URL(c.req.url).host)) return next();
    return fail(c, 'forbidden_host', 'This server answers only to the hosts 127.0.0.1, localhost and [::1].');
  };
}

/** Lets one method through. Another site may make a browser send a POST, so a POST's origin is looked at too. */
export function guardMethod(method: Method): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method !== method) {
      c.header('Allow', method);
      return fail(c, 'method_not_allowed', `${c.req.path} accepts only ${method}.`);
    }
    if (method === 'POST' && !isSameOrigin(c)) {
      return fail(c, 'forbidden_origin', 'A request from a page of another origin is refused.');
    }
    return next();
  };
}

/** No Origin at all is a command-line client; `null` is a page that hides where it is from. */
function isSameOrigin(c: Context): boolean {
  const origin = c.req.header('origin');
  return origin === undefined || origin.toLowerCase() === `http://${hostOf(c)}`;
}

/** Without a Host header (HTTP/1.0, or no socket at all) the host of the URL counts. */
function hostOf(c: Context): string {
  return (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase();
}
