import { z } from 'zod';
import type { StatusTable } from '../shared/failures.ts';
import type { TrackerHttp, TrackerHttpDeps } from '../shared/http.ts';
import { createTrackerHttp } from '../shared/http.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { userAgentOf } from '../shared/settings.ts';
import { API_SUFFIX, KIND } from './settings.ts';

/** For answers whose content does not matter, as long as they are the API's own and not some proxy's page. */
export const ANY_JSON = z.unknown();

/** What each status means; 5xx and the rest are written once. */
export const STATUSES: StatusTable = {
  400: 'tracker_payload_error',
  401: 'tracker_auth_error',
  403: 'tracker_auth_error',
  404: 'tracker_not_found',
  409: 'tracker_api_error',
  414: 'tracker_payload_error',
  422: 'tracker_payload_error',
  429: 'tracker_api_error',
  '5xx': 'tracker_transport_error',
  other: 'tracker_api_error',
};

export function createClient(access: ApiAccess, deps: TrackerHttpDeps): TrackerHttp {
  const { baseUrl, apiKey } = access;
  return createTrackerHttp(
    {
      kind: KIND,
      baseUrl,
      linkSuffix: API_SUFFIX,
      // The token goes in this header only: never in the query, never as a bearer.
      headers: { 'PRIVATE-TOKEN': apiKey, Accept: 'application/json', 'User-Agent': userAgentOf(access, deps) },
      secrets: [apiKey],
      statuses: STATUSES,
      // Enough to read a whole error object; what is shown of it is bounded once more.
      errorBodyBytes: 4096,
      detail: errorDetail,
    },
    deps,
  );
}

const ENVELOPE = z.object({
  message: z.unknown().optional(),
  error: z.unknown().optional(),
  error_description: z.unknown().optional(),
});

/**
 * The four shapes of an error body: `{message}`, the same with model errors in it, `{error}` and
 * `{error, error_description}`. Empty when it is none of them, then the body itself is shown.
 */
export function errorDetail(body: string): string {
  const parsed = ENVELOPE.safeParse(JSON.parse(body));
  if (!parsed.success) return '';
  const { message, error, error_description } = parsed.data;
  const said = compact(message) || [compact(error), compact(error_description)].filter((part) => part !== '').join(': ');
  return error === 'insufficient_scope' ? `${said} (writing needs a token with the scope api)` : said;
}

function compact(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}
