import { z } from 'zod';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Provider } from '../../ports/provider.ts';
import type { ParsedEndpoint } from '../shared/endpoint.ts';
import { parseEndpoint } from '../shared/endpoint.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { DEFAULT_USER_AGENT, misconfigured } from '../shared/settings.ts';

export const KIND = 'wfboard';
export const DEFAULTS: Provider['defaults'] = {
  endpoint: '',
  activeStates: ['Backlog', 'Selected for Development', 'In Progress'],
  terminalStates: [],
  activeStatesGateDispatch: true,
};
/** Of searches and of comments alike. */
export const PAGE_SIZE = 50;
/** How many ids or keys one lookup names: more would make the address too long. */
export const BATCH_SIZE = 40;
/** What the top-level block holds beyond the role keys shared by all kinds: nothing. */
export const OPTIONS = z.strictObject({});

export interface Credentials {
  readonly email: string;
  readonly token: string;
}

/** What the tracker role works with, checked. */
export interface TrackerInputs {
  readonly access: ApiAccess;
  /** The same address for links. */
  readonly siteUrl: string;
  readonly project: string;
  readonly activeStates: readonly string[];
  /** Empty when there is none. */
  readonly queryFilter: string;
}

/** Throws a TrackerError for what could never work, before any request. */
export function readSettings(settings: TrackerSettings): TrackerInputs {
  const address = parseSite(settings.endpoint);
  if ('fault' in address) throw misconfigured(KIND, 'tracker_payload_error', `tracker.endpoint ${address.fault}`);
  if (!parseKey(settings.apiKey)) throw misconfigured(KIND, 'tracker_auth_error', `tracker.api_key ${KEY_FAULT}`);
  const project = settings.project.trim();
  if (project === '')
    throw misconfigured(KIND, 'missing_tracker_project', `tracker.project is required for tracker kind ${KIND}`);
  return {
    access: { baseUrl: address.url, apiKey: settings.apiKey, userAgent: settings.userAgent || DEFAULT_USER_AGENT },
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
