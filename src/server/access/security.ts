import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { fail } from '../http/envelope.ts';
import type { ClientConnection } from '../events-stream.ts';

export type RouteMethod = 'GET' | 'POST';
export type App = Hono<{ Bindings: ClientConnection }>;

/** An app whose every answer, errors included, carries the security headers and may not be kept. */
export function createSecureApp(): App {
  const app: App = new Hono();
  app.use('*', SECURE_HEADERS, async (c, next) => {
    await next();
    c.res.headers.set('Cache-Control', 'no-store');
  });
  return app;
}

const SECURE_HEADERS = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  // Without any referrer a browser would hide the origin of the login form too, and be refused for it.
  referrerPolicy: 'same-origin',
  // Plain HTTP: whether there is TLS in front is not for us to promise.
  strictTransportSecurity: false,
});

const HIGHEST_PORT = 65_535;
const LOCAL_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Refuses names that merely resolve to this machine: a page of another site could otherwise point its own name here and
 * read everything (DNS rebinding). A request target in absolute form names a host of its own, so both are looked at.
 */
export function guardHost(allowed: readonly string[]): MiddlewareHandler {
  const known = hostNames(allowed);
  const isKnown = hostCheck(allowed);
  return async (c, next) => {
    if (isKnown(requestHost(c)) && isKnown(new URL(c.req.url).host)) return next();
    return fail(
      c,
      'forbidden_host',
      `This server answers only to the hosts ${[...known].join(', ')}. Others are added with server.allowed_hosts.`,
    );
  };
}

/** Whether a host, in lower case and with its port or without, is one that is answered to. */
export function hostCheck(allowed: readonly string[]): (host: string) => boolean {
  const known = hostNames(allowed);
  return (host) => {
    if (known.has(host)) return true;
    const [, name = '', port] = /^(.+):(\d{1,5})$/.exec(host) ?? [];
    return known.has(name) && Number(port) <= HIGHEST_PORT;
  };
}

function hostNames(allowed: readonly string[]): ReadonlySet<string> {
  return new Set([...LOCAL_HOSTS, ...allowed].map((host) => host.toLowerCase()));
}

/** Lets one method through. */
export function guardMethod(method: RouteMethod): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === method) return next();
    c.header('Allow', method);
    return fail(c, 'method_not_allowed', `${c.req.path} accepts only ${method}.`);
  };
}

/**
 * Refuses what a page of another site made a browser send. No Origin at all is a command-line client; `null` is a page
 * that hides where it is from. `hono/csrf` does not serve here: it lets a JSON body of another origin pass and refuses
 * clients that send neither Origin nor Sec-Fetch-Site.
 */
export function guardOrigin(allowed: readonly string[]): MiddlewareHandler {
  const behindTls = new Set(allowed.map((host) => host.toLowerCase()));
  return async (c, next) => {
    const origin = c.req.header('origin')?.toLowerCase();
    const host = requestHost(c);
    const ours = [
      `http://${host}`,
      ...(behindTls.has(host) || behindTls.has(host.replace(/:\d+$/, '')) ? [`https://${host}`] : []),
    ];
    const site = c.req.header('sec-fetch-site') ?? 'none';
    if ((origin === undefined || ours.includes(origin)) && (site === 'none' || site === 'same-origin')) return next();
    return fail(c, 'forbidden_origin', 'A request from a page of another origin is refused.');
  };
}

/** Without a socket there may be no Host header: then the host of the URL counts. */
export function requestHost(c: Context): string {
  return (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase();
}
