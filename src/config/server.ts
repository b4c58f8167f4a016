import type { Problem } from '../domain/model/problem.ts';
import type { Settings } from '../domain/model/settings.ts';
import { blamingUnset, type Env, expand, type Expanded, unsetNote } from './expand.ts';
import type { Sections } from './schema.ts';

/** The only address that is served without a token. */
const LOOPBACK = '127.0.0.1';

export interface ReadServer {
  readonly settings: Settings['server'];
  readonly problems: readonly Problem[];
  /** Values that must not be shown. */
  readonly secrets: readonly Expanded[];
}

/** The server section with its secrets filled in, and what is wrong with it. */
export function readServer(section: Sections['server'], env: Env): ReadServer {
  const token = secretOf(section.token, env);
  const secret = secretOf(section.webhooks.secret, env);
  const problems = [
    ...(token === null ? [] : emptySecret('server.token', token)),
    ...(secret === null ? [] : emptySecret('server.webhooks.secret', secret)),
    ...(section.public_url === undefined || isAddress(section.public_url) ? [] : [badAddress()]),
    ...(section.host === LOOPBACK || token !== null ? [] : [tokenMissing(section.host)]),
  ];
  const settings = {
    port: section.port ?? null,
    host: section.host,
    token: token?.value ?? null,
    allowedHosts: section.allowed_hosts,
    publicUrl: section.public_url?.replace(/\/+$/, '') ?? null,
    webhookSecret: secret?.value ?? null,
  };
  return { settings, problems, secrets: [token, secret].filter((found) => found !== null) };
}

function secretOf(written: string | undefined, env: Env): Expanded | null {
  return written === undefined ? null : expand(written, 'whole', env);
}

/** A secret that came out empty would lock everybody out, or let everybody in. */
function emptySecret(check: string, expanded: Expanded): readonly Problem[] {
  if (expanded.value.trim() !== '') return [];
  const message = `must not be empty${unsetNote(expanded)}`;
  return [blamingUnset({ severity: 'error', check, message, key: check.split('.') }, expanded)];
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:\/\//i.test(url);
}

function badAddress(): Problem {
  const message = 'must be an address such as https://foray.example.org';
  return { severity: 'error', check: 'server.public_url', message, key: ['server', 'public_url'] };
}

function tokenMissing(host: string): Problem {
  return {
    severity: 'error',
    check: 'server.token.required',
    message: `server.host "${host}" ${whyToken(host)}, so server.token is needed: write server.token: $NAME, or leave server.host out`,
    key: ['server', 'host'],
  };
}

/** A name of this machine may stand for more than the one address. */
function whyToken(host: string): string {
  return /^(?:localhost|\[?::1\]?|127\.[\d.]+)$/i.test(host) ? `is not ${LOOPBACK}` : 'lets other machines in';
}
