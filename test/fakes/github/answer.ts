import type { RecordedRequest } from '../../support/http-server.ts';
import type { PullStore } from './pull-store.ts';
import type { FakeRepo } from './store.ts';
import type { WireContext } from './wire.ts';

/** An answer before it goes over the wire. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteContext extends WireContext {
  readonly pulls: PullStore;
  /** Where the logs of jobs are kept, on another host. */
  readonly logStore: string;
  /** Whether adding an unknown label creates it, as it does for those who may push. */
  readonly createsLabels: boolean;
  readonly canWrite: boolean;
  readonly incompleteResults: boolean;
  /** The remote gives no larger page, whatever is asked for. */
  readonly pageSizeCap: number;
  readonly missingRefStatus: 404 | 422;
}

/** One request below a repository. */
export interface Call {
  readonly context: RouteContext;
  readonly request: RecordedRequest;
  readonly repo: FakeRepo;
  /** The path behind the repository. */
  readonly rest: string;
  readonly params: Readonly<Record<string, string>>;
}

export type RouteTable = Readonly<Record<string, (call: Call) => Answer>>;

export function refusal(status: number, message: string, more: object = {}): Answer {
  return { status, body: { message, documentation_url: 'https://docs.forge.example/rest', status: String(status), ...more } };
}

export const NOT_FOUND: Answer = refusal(404, 'Not Found');

/** Refused to a token that only reads. */
export function write<C extends Call>(handle: (call: C) => Answer): (call: C) => Answer {
  return (call) => (call.context.canWrite ? handle(call) : refusal(403, 'Resource not accessible by personal access token'));
}

// Links between pages use the numeric form of a repository.
export function paged<T>(
  call: Call,
  all: readonly T[],
  wire: (entry: T) => unknown,
  wrap: (entries: readonly unknown[]) => unknown = (entries) => entries,
): Answer {
  const { context, request, repo, rest } = call;
  const { entries, link } = pageOf({ context, request, base: `${context.api}/repositories/${repo.id}${rest}` }, all);
  return { status: 200, body: wrap(entries.map(wire)), headers: link };
}

interface PageCall {
  readonly context: RouteContext;
  readonly request: RecordedRequest;
  /** Where the links between pages lead. */
  readonly base: string;
}

export function pageOf<T>(
  { context, request, base }: PageCall,
  all: readonly T[],
): { entries: readonly T[]; link: Record<string, string> } {
  const size = Math.min(Number(request.query.get('per_page') ?? 30) || 30, context.pageSizeCap);
  const page = Number(request.query.get('page') ?? 1) || 1;
  const last = Math.max(1, Math.ceil(all.length / size));
  const to = (number: number, rel: string): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(number));
    return `<${base}?${query.toString()}>; rel="${rel}"`;
  };
  const links = page < last ? [to(page + 1, 'next'), to(last, 'last')] : [];
  if (page > 1) links.push(to(page - 1, 'prev'), to(1, 'first'));
  return { entries: all.slice((page - 1) * size, page * size), link: links.length > 0 ? { link: links.join(', ') } : {} };
}
