import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';

/** Where an API is and who asks: what every client of a provider needs. */
export interface ApiAccess {
  /** With the API's own path. May hold a user and password: for requests only. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Null: the service's own name and version. */
  readonly userAgent: string | null;
}

/** The name of merge-request and CI requests, and of some trackers, unless one is configured. */
export const DEFAULT_USER_AGENT = 'svc/dev';

/** What requests call themselves. */
export function userAgentOf({ userAgent }: ApiAccess, { version }: { readonly version: string }): string {
  return userAgent ?? `svc/${version}`;
}

/** How patient a tracker is. Tests are less so. */
export interface Tuning {
  /** Waits between the tries of the preflight. */
  readonly retryDelaysMs?: readonly number[];
  /** No list is longer than this many pages. A remote that never ends one must not hold up every poll. */
  readonly pageCap?: number;
}

export const RETRY_DELAYS_MS: readonly number[] = [1000, 2000, 4000];

/** A key as it must be sent: header values lose blanks around them, so that a padded one would be another key. */
export function requireKey(provider: string, block: string, apiKey: string): void {
  if (apiKey.trim() === '')
    throw misconfigured(provider, 'tracker_auth_error', `${block}.api_key is empty: set it to an access token`);
  if (apiKey === apiKey.trim()) return;
  throw misconfigured(provider, 'tracker_auth_error', `${block}.api_key has white space around it: write the token alone`);
}

/** The error for settings that could never work, thrown before any request. */
export function misconfigured(provider: string, kind: TrackerErrorKind, detail: string): TrackerError {
  return new TrackerError({ kind, method: 'construct', path: provider, detail });
}
