import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { HttpResponse, ReplyHeaders } from '../../lib/http/index.ts';
import { path } from '../../lib/http/index.ts';
import type { Classification, StatusTable } from '../shared/failures.ts';
import type { TrackerHttp, TrackerHttpDeps } from '../shared/http.ts';
import { createTrackerHttp } from '../shared/http.ts';
import { plainQuotas } from '../shared/quota.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { userAgentOf } from '../shared/settings.ts';
import { KIND, parseKey } from './settings.ts';

/** Every request to the site: its headers and what its statuses mean. */
export function createClient(access: ApiAccess, deps: TrackerHttpDeps): TrackerHttp {
  const { email, token } = parseKey(access.apiKey) ?? { email: '', token: access.apiKey };
  const pair = `${email}:${token}`;
  const headers = {
    Authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': userAgentOf(access, deps),
  };
  const rules = { statuses: STATUSES, classify, detail: spoken };
  return createTrackerHttp(
    { kind: KIND, baseUrl: access.baseUrl, headers, secrets: [token, pair], quotas: plainQuotas(KIND, 'show'), ...rules },
    deps,
  );
}

/** The path of one issue, by its id or key. */
export function issuePath(id: string): string {
  if (id.trim() !== '') return path`/rest/api/3/issue/${id}`;
  const detail = 'not asked for: an empty id names no issue';
  throw new TrackerError({ kind: 'tracker_not_found', method: 'GET', path: '/rest/api/3/issue/', detail });
}

/** The error table of the specification. Statuses it calls "other" are left to `other`. */
export const STATUSES: StatusTable = {
  400: 'tracker_payload_error',
  401: 'tracker_auth_error',
  403: 'tracker_auth_error',
  404: 'tracker_not_found',
  429: 'tracker_api_error',
  '5xx': 'tracker_transport_error',
  other: 'tracker_api_error',
};

/** Of the other statuses, those that stay until a person changes something: no such call, too large, not configured. */
const LASTING: readonly number[] = [405, 410, 413, 414, 415, 422];

/** What an operator can do about it. */
export const REMEDIES: Readonly<Record<number, string>> = {
  401: 'check tracker.api_key: it is <email>:<token>, and tokens expire',
  403: 'the account or its token may not do this: check its project permissions and the scopes of the token',
};

function classify(response: HttpResponse): Classification | undefined {
  const { status, body } = response;
  const refused = refusedLogin(response);
  if (refused) return { kind: 'tracker_auth_error', detail: `status ${status}: ${refused}` };
  if (LASTING.includes(status)) return { kind: STATUSES[status] ?? STATUSES.other, retryable: false };
  const kind = STATUSES[status];
  const remedy = REMEDIES[status];
  const said = kind && remedy ? readable(body) : '';
  // Nothing readable said: the body is shown as it is, which the default does.
  return kind && said ? { kind, detail: `status ${status}: ${said}; ${remedy}` } : undefined;
}

/**
 * Why a login did not count, where the remote tells. After many failures it wants a challenge solved. A rejected token alone
 * makes the caller anonymous: a search is then answered 200 with no issues, which must not look like issues that are gone.
 */
function refusedLogin({ status, headers }: HttpResponse): string | undefined {
  const reason = loginReason(headers);
  if ((status === 401 || status === 403) && reason.includes('AUTHENTICATION_DENIED')) {
    return 'logins of this account are denied after repeated failures (AUTHENTICATION_DENIED): solve the challenge by logging in through a browser, then check tracker.api_key';
  }
  if (status >= 200 && status < 300 && reason.includes('AUTHENTICATED_FAILED')) {
    return `the login was rejected and the request answered as anonymous (AUTHENTICATED_FAILED): ${REMEDIES[401]}`;
  }
  return undefined;
}

// The vendor's name in the header differs between products.
function loginReason(headers: ReplyHeaders): string {
  const found = [...headers].filter(([name]) => /^x-.*-loginreason$/i.test(name));
  return found.map(([, value]) => value.toUpperCase()).join(', ');
}

function readable(body: string): string {
  try {
    return spoken(body).replace(/\s+/g, ' ').trim();
  } catch {
    return '';
  }
}

const ERROR_BODY = z.object({
  errorMessages: z.array(z.string()).nullish().catch(null),
  errors: z.record(z.string(), z.unknown()).nullish().catch(null),
  /** What stands before the API itself answers in this form. */
  message: z.string().nullish().catch(null),
});

/** `Field required; resolution: Resolution is required.` out of `{errorMessages, errors}`. Throws when the body is no JSON. */
function spoken(body: string): string {
  const { errorMessages, errors, message } = ERROR_BODY.parse(JSON.parse(body));
  const byField = Object.entries(errors ?? {}).map(([field, fault]) => `${field}: ${shown(fault)}`);
  const all = [...(errorMessages ?? []), ...byField, ...(message ? [message] : [])];
  return all.filter((one) => one.trim() !== '').join('; ');
}

function shown(fault: unknown): string {
  return typeof fault === 'string' ? fault : JSON.stringify(fault);
}
