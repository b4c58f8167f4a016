import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { ParsedEndpoint } from '../shared/endpoint.ts';
import { parseEndpoint } from '../shared/endpoint.ts';

export const KIND = 'wfboard';
export const DEFAULT_USER_AGENT = 'svc/dev';
export const DEFAULT_ACTIVE_STATES: readonly string[] = ['Backlog', 'Selected for Development', 'In Progress'];
export const DEFAULT_TERMINAL_STATES: readonly string[] = [];
/** Of searches and of comments alike. */
export const PAGE_SIZE = 50;
/** How many ids or keys one lookup names: more would make the address too long. */
export const BATCH_SIZE = 40;
/** What the top-level block holds beyond the role keys shared by all kinds: nothing. */
export const OPTIONS = z.strictObject({});

/** What the requests need. */
export interface Connection {
  /** Without trailing slashes. May hold a user and password: for requests only. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly userAgent: string;
}

export interface Credentials {
  readonly email: string;
  readonly token: string;
}

export interface JiraSettings {
  readonly connection: Connection;
  /** The same address for links. */
  readonly siteUrl: string;
  readonly project: string;
  readonly activeStates: readonly string[];
  /** Empty when there is none. */
  readonly queryFilter: string;
}

/** Throws a TrackerError for what could never work, before any request. */
export function readSettings(settings: TrackerSettings): JiraSettings {
  const address = parseSite(settings.endpoint);
  if ('fault' in address) throw refused('tracker_payload_error', `tracker.endpoint ${address.fault}`);
  const credentials = parseKey(settings.apiKey);
  if (!credentials) throw refused('tracker_auth_error', `tracker.api_key ${KEY_FAULT}`);
  const project = settings.project.trim();
  if (project === '') throw refused('missing_tracker_project', `tracker.project is required for tracker kind ${KIND}`);
  return {
    connection: { baseUrl: address.url, credentials, userAgent: settings.userAgent || DEFAULT_USER_AGENT },
    siteUrl: address.shown,
    project,
    activeStates: settings.activeStates,
    queryFilter: settings.queryFilter.trim() === '' ? '' : settings.queryFilter,
  };
}

/** The address of the site, or what is wrong with it. The API's own path is added to it, so it must not be there already. */
export function parseSite(value: string): ParsedEndpoint {
  const address = parseEndpoint(value);
  if ('fault' in address || !`${address.url}/`.includes('/rest/api/')) return address;
  return {
    fault: `"${address.shown}" contains /rest/api/: write the address of the site alone, such as https://acme.atlassian.net`,
  };
}

export const KEY_FAULT = 'is not of the form <email>:<token>, both sides non-empty';

/** `<email>:<token>`. A token may hold further colons, an e-mail address may not. */
export function parseKey(apiKey: string): Credentials | undefined {
  const key = apiKey.trim();
  const colon = key.indexOf(':');
  const [email, token] = [key.slice(0, Math.max(0, colon)).trim(), key.slice(colon + 1).trim()];
  return colon === -1 || email === '' || token === '' ? undefined : { email, token };
}

function refused(kind: TrackerErrorKind, detail: string): TrackerError {
  return new TrackerError({ kind, method: 'construct', path: KIND, detail });
}
