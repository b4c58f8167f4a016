import { createHash, randomBytes } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Daemon } from '../../ports/daemon.ts';
import { readRequestBody } from '../http/body.ts';
import { loginPage } from '../dashboard/login.ts';
import { rememberEndedLogins } from './ended-logins.ts';
import { fail } from '../http/envelope.ts';
import type { ClientConnection } from '../events-stream.ts';
import { createGuesses, type Guesses } from './guesses.ts';
import { isSame, isSameInHeader } from './same-secret.ts';
import { requestHost } from './security.ts';

type ServerContext = Context<{ Bindings: ClientConnection }>;

/** Answered without a token: probes, webhooks with their own signature, and what the login page is made of. */
const OPEN_PATHS = /^\/(?:livez|readyz|hooks\/.*|login|session|assets\/dashboard\.css)$/;
const LOGIN_LASTS_S = 30 * 24 * 3600;
const MAX_NAME = 60;
const MAX_FORM_BYTES = 16 * 1024;
/** Wrong tokens that cost an address no time: people mistype, programs ask for many things with an old one. */
const FREE_LOGINS = 10;
const FREE_REQUESTS = 200;
const TOO_MANY = 'Too many wrong tokens came from this address. Try again in a few seconds.';
const RETRY_AFTER_S = '3';
/** Where the name of a login is kept while a request is answered. */
const LOGIN = 'login';

/** Who may come in, and who they are. */
export interface Access {
  readonly guard: MiddlewareHandler;
  readonly getLogin: (c: ServerContext) => Response | Promise<Response>;
  readonly postLogin: (c: ServerContext) => Promise<Response>;
  readonly postLogout: (c: ServerContext) => Promise<Response>;
  /** For the record: the name given at login, else the address the request came from. */
  operatorOf(c: ServerContext): string;
}

/** The name somebody logged in with, which may be empty; null where the request came without a login. */
export function loginOf(c: Context): string | null {
  return (c.get(LOGIN) as string | undefined) ?? null;
}

export function createAccess(token: string | null, daemon: Pick<Daemon, 'clock' | 'logger' | 'notes'>): Access {
  const { now } = daemon.clock;
  const ended = rememberEndedLogins(daemon, LOGIN_LASTS_S * 1000);
  // The cookie is signed with what follows from the token: a new token ends every login.
  const key = createHash('sha256').update(`foray login ${token}`).digest('hex');
  const loginIn = async (c: Context): Promise<Login | null> => {
    const value = token === null ? null : await getSignedCookie(c, key, cookieName(c));
    const login = typeof value === 'string' ? readLogin(value) : null;
    if (login === null || login.until <= now()) return null;
    return (await ended.has(login.value)) ? null : login;
  };
  const logins = createGuesses(FREE_LOGINS, now);
  const requests = createGuesses(FREE_REQUESTS, now);
  return {
    guard: async (c, next) => {
      if (token === null || OPEN_PATHS.test(c.req.path)) return next();
      const login = await loginIn(c);
      c.set(LOGIN, login?.name);
      if (login !== null) return next();
      const given = bearerOf(c);
      const verdict = given === undefined ? 'wrong' : await judge(() => isSameInHeader(given, token), requests, addressOf(c));
      if (verdict === 'right') return next();
      if (verdict === 'too many') {
        c.header('Retry-After', RETRY_AFTER_S);
        return fail(c, 'too_many_tries', TOO_MANY);
      }
      c.header('WWW-Authenticate', 'Bearer realm="foray"');
      if (wantsPage(c)) return c.html(loginPage({ next: pathOf(c) }), 401);
      return fail(c, 'unauthorized', 'This server asks for its token: send Authorization: Bearer, or log in at /login.');
    },
    getLogin(c) {
      const next = localPath(c.req.query('next'));
      return token === null ? c.redirect(next, 303) : c.html(loginPage({ next }));
    },
    async postLogin(c) {
      const body = await readRequestBody(c, MAX_FORM_BYTES);
      if (body === null && token !== null) return fail(c, 'body_too_large', `The body may have ${MAX_FORM_BYTES} bytes.`);
      const form = body && (await formOf(c, body));
      if (form === null && token !== null) return fail(c, 'bad_request', 'The body must be a form.');
      const next = localPath(textOf(form?.get('next')));
      if (token === null) return c.redirect(next, 303);
      const given = textOf(form?.get('token')).trim();
      const verdict = await judge(() => isSame(given, token), logins, addressOf(c));
      if (verdict === 'wrong') return c.html(loginPage({ next, problem: 'This is not the token.' }), 401);
      if (verdict === 'too many') {
        c.header('Retry-After', RETRY_AFTER_S);
        return c.html(loginPage({ next, problem: TOO_MANY }), 429);
      }
      const value = loginValue(cleanName(textOf(form?.get('name'))), now() + LOGIN_LASTS_S * 1000);
      await giveCookie(c, value, key);
      return c.redirect(next, 303);
    },
    async postLogout(c) {
      const login = await loginIn(c);
      if (login !== null) await ended.add(login.value, login.until);
      deleteCookie(c, cookieName(c), { path: '/' });
      return c.redirect('/login', 303);
    },
    operatorOf: (c) => loginOf(c) || addressOf(c),
  };
}

async function giveCookie(c: Context, value: string, key: string): Promise<void> {
  await setSignedCookie(c, cookieName(c), value, key, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    // Behind TLS it never goes out in the clear; without, the browser would not send it back at all.
    secure: /^https:/i.test(c.req.header('origin') ?? ''),
    maxAge: LOGIN_LASTS_S,
  });
}

/** One login, as its cookie says. */
interface Login {
  /** No two have the same: one can be ended without the others. */
  readonly value: string;
  /** A cookie that was copied must not outlive the one in the browser. */
  readonly until: number;
  /** As it was given. */
  readonly name: string;
}

function loginValue(name: string, until: number): string {
  return `${until}.${randomBytes(9).toString('base64url')} ${name}`;
}

function readLogin(value: string): Login | null {
  const [, until, name] = /^(\d{1,15})\.[\w-]+ (.*)$/s.exec(value) ?? [];
  return until === undefined || name === undefined ? null : { value, until: Number(until), name };
}

/** Nothing is trimmed: the last byte of a character may look like a space. */
function bearerOf(c: Context): string | undefined {
  return /^Bearer +(\S.*)$/i.exec(c.req.header('authorization') ?? '')?.[1];
}

async function judge(isRight: () => boolean, guesses: Guesses, address: string): Promise<'right' | 'wrong' | 'too many'> {
  if (!(await guesses.turn(address))) return 'too many';
  if (isRight()) return 'right';
  guesses.wrong(address);
  return 'wrong';
}

function addressOf(c: ServerContext): string {
  return c.env?.address ?? 'unknown address';
}

/** The fields of a form; null where the body is none. */
async function formOf(c: Context, body: Buffer): Promise<FormData | null> {
  const type = c.req.header('content-type') ?? '';
  return new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData().catch(() => null);
}

/** Browsers keep one set of cookies for all ports of a host: two daemons must not end each other's logins. */
function cookieName(c: Context): string {
  return `foray_login_${/:(\d+)$/.exec(requestHost(c))?.[1] ?? '80'}`;
}

function wantsPage(c: Context): boolean {
  return c.req.method === 'GET' && (c.req.header('accept') ?? '').includes('text/html');
}

function pathOf(c: Context): string {
  const { pathname, search } = new URL(c.req.url);
  return localPath(`${pathname}${search}`);
}

/** Only a path of ours: never a way to another site. Browsers leave tabs and line breaks out of an address, and take a backslash for a slash. */
function localPath(path: string | undefined): string {
  if (path === undefined || !/^\/(?!\/)[^\\\s\p{Cc}]*$/u.test(path)) return '/';
  return URL.canParse(path, SOMEWHERE) && new URL(path, SOMEWHERE).origin === SOMEWHERE ? path : '/';
}

const SOMEWHERE = 'http://localhost';

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function cleanName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
}
