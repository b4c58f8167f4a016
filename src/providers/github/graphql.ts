import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import type { RequestKey } from '../../ports/scm.ts';
import type { Classification } from '../shared/failures.ts';
import type { TrackerHttp, TrackerHttpDeps } from '../shared/http.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { type ClientRole, createClient, resetOf } from './client.ts';
import { nullableText } from './schema.ts';

/** What only the remote's GraphQL side tells of a pull request. */
export interface PullFacts {
  /** Empty where the base branch asks for no reviews. */
  readonly reviewDecision: string;
  /** Empty until it is merged. */
  readonly mergeCommitSha: string;
}

export type ReadPullFacts = (request: RequestKey, signal: AbortSignal) => Promise<PullFacts>;

const QUERY = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewDecision mergeCommit { oid } } }
}`;

const answer = z.object({
  data: z.object({
    repository: z
      .object({
        pullRequest: z.object({ reviewDecision: nullableText, mergeCommit: z.object({ oid: nullableText }).nullish() }).nullish(),
      })
      .nullish(),
  }),
});

// GraphQL reference, "Queries": viewer.
const VIEWER = 'query { viewer { login } }';
const viewerAnswer = z.object({ data: z.object({ viewer: z.object({ login: z.string().min(1) }) }) });

/** The account of the token. Unlike the REST side it also tells that of an app's installation. */
export async function readViewer(http: TrackerHttp, signal: AbortSignal): Promise<string> {
  const { data } = await http.sendJson('POST', viewerAnswer, { body: { query: VIEWER }, onlyReads: true }, signal);
  return data.viewer.login;
}

/** The remote's GraphQL side. */
export function createGraphClient(access: ApiAccess, deps: TrackerHttpDeps, remedies?: ClientRole['remedies']): TrackerHttp {
  return createClient(access, deps, { baseUrl: graphqlEndpoint(access.baseUrl), ...(remedies && { remedies }), faultIn });
}

export function createPullFacts(http: TrackerHttp): ReadPullFacts {
  return async ({ owner, repo, number }, signal) => {
    const body = { query: QUERY, variables: { owner, name: repo, number } };
    const { data } = await http.sendJson('POST', answer, { body, onlyReads: true }, signal);
    const pull = data.repository?.pullRequest;
    if (!pull) throw notThere(`${owner}/${repo}#${number}`);
    return { reviewDecision: pull.reviewDecision, mergeCommitSha: pull.mergeCommit?.oid ?? '' };
  };
}

/** The enterprise editions have it beside the REST root, everywhere else it is below. */
export function graphqlEndpoint(endpoint: string): string {
  const enterprise = '/api/v3';
  return endpoint.endsWith(enterprise) ? `${endpoint.slice(0, -enterprise.length)}/api/graphql` : `${endpoint}/graphql`;
}

const errors = z.object({ errors: z.array(z.object({ type: nullableText, message: nullableText })).min(1) });

/** What the types of GraphQL errors mean, all of which come with status 200. */
const ERROR_TYPES: ReadonlyMap<string, Classification['kind']> = new Map([
  ['NOT_FOUND', 'tracker_not_found'],
  ['FORBIDDEN', 'tracker_auth_error'],
  ['INSUFFICIENT_SCOPES', 'tracker_auth_error'],
]);

/** GraphQL, "Rate limits": a limit may come with status 200, and the secondary one says so only in its words. */
const LIMIT = /^RATE_LIMIT(?:ED)?\b|\brate limit/i;

// Part of the data may have come all the same; what it lacks is what was asked for.
function faultIn(response: HttpResponse): Classification | undefined {
  if (response.status !== 200) return undefined;
  const parsed = errors.safeParse(jsonOf(response));
  const [first] = parsed.data?.errors ?? [];
  if (!first) return undefined;
  const kind = ERROR_TYPES.get(first.type.toUpperCase()) ?? 'tracker_api_error';
  const said = [first.type, first.message].filter((part) => part !== '').join(': ');
  const limit = LIMIT.test(said) ? { isLimit: true, ...resetOf(response) } : {};
  return { kind, detail: `GraphQL ${said || 'error'}`, ...limit };
}

function jsonOf(response: HttpResponse): unknown {
  try {
    return response.json();
  } catch {
    // Decoding the answer says so.
    return undefined;
  }
}

function notThere(place: string): TrackerError {
  const detail = 'there is no such pull request, or the token may not see it';
  return new TrackerError({ kind: 'tracker_not_found', method: 'POST', path: `graphql ${place}`, detail });
}
