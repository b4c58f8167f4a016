import { z } from 'zod';
import type { ZodType } from 'zod';
import type { TrackerErrorFacts, TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import type { StatusTable } from '../shared/failures.ts';
import type { TrackerHttpDeps } from '../shared/http.ts';
import { createTrackerHttp } from '../shared/http.ts';
import { createAllowanceWatch, readAllowances, resetOf } from './allowance.ts';
import { classifyErrors } from './errors.ts';
import type { GraphqlOperation } from './operations.ts';
import type { WireConnection } from './schema.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { userAgentOf } from '../shared/settings.ts';
import { KIND } from './settings.ts';

/** What a status means when the body holds no errors of its own. */
export const STATUSES: StatusTable = {
  400: 'tracker_payload_error',
  401: 'tracker_auth_error',
  403: 'tracker_auth_error',
  429: 'tracker_api_error',
  '5xx': 'tracker_transport_error',
  other: 'tracker_api_error',
};

/** Errors come with paths, places and long explanations; cut in the middle they could not be read at all. */
const ERROR_BODY_BYTES = 256 * 1024;
/** What is looked at of a body without errors, far more than is shown of it. */
const DETAIL_CHARACTERS = 4096;
const PAGE_CAP = 200;

export type Variables = Readonly<Record<string, unknown>>;
/** One page of a list; null asks for the first. */
export type FetchPage = (after: string | null) => Promise<WireConnection>;

/** The one endpoint. */
export interface LinearClient {
  /** The data of one document. An answer that holds errors is a TrackerError, whatever data it holds beside them. */
  run<T>(operation: GraphqlOperation<T>, variables: Variables, signal: AbortSignal): Promise<T>;
  /** The entries of every page. One that does not fit is left out with a warning. `list` is for messages. */
  readAll<T>(list: string, schema: ZodType<T>, fetchPage: FetchPage): Promise<T[]>;
  /** A mutation may say that it did nothing without giving an error. */
  confirm(mutation: string, answer: { readonly success?: boolean | null }): void;
  /** Whether less than half of what documents may cost is left. */
  pointsAreShort(): boolean;
  /** An error of this endpoint that no answer spelled out. */
  fault(
    kind: TrackerErrorKind,
    detail: string,
    more?: Pick<TrackerErrorFacts, 'status' | 'retryable' | 'unknownStates' | 'cause'>,
  ): TrackerError;
}

export function createClient(access: ApiAccess, deps: TrackerHttpDeps): LinearClient {
  const { baseUrl: url, apiKey } = access;
  const allowances = createAllowanceWatch(deps.logger);
  const path = new URL(url).pathname;
  // An address without a path is that of the root, which messages would otherwise leave out.
  const route = path === '/' ? '/' : '';
  const classify = (response: HttpResponse) => {
    allowances.read(response.headers);
    const ruled = classifyErrors(response, [apiKey]);
    return ruled?.isLimit ? { ...ruled, retryAt: resetOf(response.headers) } : ruled;
  };
  const http = createTrackerHttp(
    {
      kind: KIND,
      baseUrl: url,
      secrets: [apiKey],
      headers: { authorization: apiKey, 'user-agent': userAgentOf(access, deps) },
      errorBodyBytes: ERROR_BODY_BYTES,
      statuses: STATUSES,
      quotas: readAllowances,
      classify,
      detail: (body) => body.slice(0, DETAIL_CHARACTERS),
    },
    deps,
  );
  const fault: LinearClient['fault'] = (kind, detail, more = {}) =>
    new TrackerError({ ...more, kind, method: 'POST', path, detail });

  return {
    run: async <T>({ text, data }: GraphqlOperation<T>, variables: Variables, signal: AbortSignal) => {
      const request = { path: route, body: { query: text, variables }, onlyReads: !text.startsWith('mutation') };
      return (await http.sendJson('POST', answerWith(data), request, signal)).data;
    },
    readAll: async (list, schema, fetchPage) => {
      const onCap = (): void =>
        deps.logger.warn('tracker list reached the page cap, the rest is left out', {
          tracker_kind: KIND,
          endpoint: path,
          list,
          pages: PAGE_CAP,
        });
      return http.records(schema, await readPages(list, fetchPage, { fault, onCap }), list);
    },
    confirm: (mutation, { success }) => {
      if (success === false) throw fault('tracker_api_error', `${mutation} was answered without success and without an error`);
    },
    pointsAreShort: allowances.pointsAreShort,
    fault,
  };
}

/** Made once for each shape: making one takes longer than reading an answer by it. */
const ANSWERS = new WeakMap<ZodType, ZodType>();

function answerWith<T>(data: ZodType<T>): ZodType<{ data: T }> {
  const answer = ANSWERS.get(data) ?? z.object({ data });
  ANSWERS.set(data, answer);
  return answer as ZodType<{ data: T }>;
}

async function readPages(
  list: string,
  fetchPage: FetchPage,
  { fault, onCap }: Pick<LinearClient, 'fault'> & { onCap: () => void },
): Promise<unknown[]> {
  const nodes: unknown[] = [];
  let after: string | null = null;
  for (let page = 1; ; page += 1) {
    const connection: WireConnection = await fetchPage(after);
    nodes.push(...connection.nodes);
    if (connection.pageInfo?.hasNextPage !== true) return nodes;
    after = connection.pageInfo.endCursor || null;
    if (after === null) throw fault('tracker_missing_end_cursor', `${list}: there is a next page but no end cursor`);
    if (page < PAGE_CAP) continue;
    onCap();
    return nodes;
  }
}
