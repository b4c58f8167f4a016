import type { RecordedRequest } from '../../support/http-server.ts';
import type { FakeIssue, Store } from './store.ts';

/** What a route answers, before it becomes bytes. An absent body is an empty one. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Instance {
  readonly store: Store;
  /** The address of the instance, for links. */
  readonly base: () => string;
  readonly login: string;
  /** The server's own limit: a larger page is silently made this small. */
  readonly maxPageSize: number;
  readonly ownerIsOrganization: boolean;
  readonly dependenciesEnabled: boolean;
  /** An older server, whose dependencies come without link and total. */
  readonly bareDependencies: boolean;
  /** What users may do here, by login; all others may read. */
  readonly permissions: Map<string, string>;
  /** Whether the token's user may ask for the permissions of others. */
  isAdmin: boolean;
  isPublic: boolean;
  /** Writes to an archived repository are answered 423. */
  archived: boolean;
  /** Whether the user of the token has write access, whatever the scopes of the token are. */
  mayPush: boolean;
  /** An old server, which answers an empty page of statuses without a body. */
  readonly emptyStatusBody: boolean;
}

export type Route = (request: RecordedRequest, params: Readonly<Record<string, string>>) => Answer;
export type Routes = Readonly<Record<string, Route>>;

export function ok(body: unknown, status = 200): Answer {
  return { status, body };
}

export function failure(instance: Instance, status: number, message: string): Answer {
  return { status, body: { message, url: `${instance.base()}/api/swagger` } };
}

export function notFound(instance: Instance, message = 'not found'): Answer {
  const body = { errors: null, message, url: `${instance.base()}/api/swagger` };
  return { status: 404, body };
}

/** A route of one issue or pull request: both share one row of numbers. */
export function ofIssue(
  instance: Instance,
  handle: (issue: FakeIssue, request: RecordedRequest, params: Readonly<Record<string, string>>) => Answer,
): Route {
  return (request, params) => {
    const issue = instance.store.issues.get(Number(params.index));
    return issue ? handle(issue, request, params) : notFound(instance);
  };
}

export function write(instance: Instance, handle: Route): Route {
  return (request, params) =>
    instance.archived
      ? failure(instance, 423, 'This repo is archived. You can view files and clone it, but cannot push or open issues')
      : handle(request, params);
}

/** One page with the vendor's links and total. */
export function page(instance: Instance, request: RecordedRequest, all: readonly unknown[]): Answer {
  const { items, number, size } = slice(instance, request, all);
  const last = Math.max(1, Math.ceil(all.length / size));
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(to));
    return `<${instance.base()}${request.path}?${query.toString()}>; rel="${rel}"`;
  };
  const links = [
    ...(number < last ? [link(number + 1, 'next'), link(last, 'last')] : []),
    ...(number > 1 ? [link(1, 'first'), link(number - 1, 'prev')] : []),
  ];
  const total = { 'x-total-count': String(all.length) };
  return { status: 200, body: items, headers: links.length > 0 ? { ...total, link: links.join(',') } : total };
}

/** One page with its total alone: the vendor links to no next page of some lists. */
export function counted(instance: Instance, request: RecordedRequest, all: readonly unknown[]): Answer {
  return { status: 200, body: slice(instance, request, all).items, headers: { 'x-total-count': String(all.length) } };
}

/** One page without any link: some of the vendor's lists have none. */
export function slice(instance: Instance, { query }: RecordedRequest, all: readonly unknown[]) {
  const size = Math.min(Number(query.get('limit')) || 30, instance.maxPageSize);
  const number = Math.max(1, Number(query.get('page')) || 1);
  return { items: all.slice((number - 1) * size, number * size), number, size };
}
