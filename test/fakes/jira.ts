import type { Handler, RecordedRequest, Reply, RouteHandler } from '../support/http-server.ts';
import { empty, json, router, startServer } from '../support/http-server.ts';
import type { Exchange } from '../support/openapi.ts';
import type { Answer, Board } from './jira/routes.ts';
import { failure, noSuchIssue, routes } from './jira/routes.ts';
import type { IssueEdit, NewIssue, Site, SiteIssue } from './jira/store.ts';
import { addComment, addIssue, createSite, editIssue, findIssue, reindex } from './jira/store.ts';

export interface FakeJiraOptions {
  readonly project?: string;
  readonly email?: string;
  readonly token?: string;
  readonly statuses?: readonly string[];
  /** Targets by status. A status that is not listed leads to every other one. */
  readonly workflow?: Readonly<Record<string, readonly string[]>>;
  readonly maxPageSize?: number;
  readonly maxCommentPage?: number;
  /** A token without the write scope: every write is answered 403. */
  readonly readOnly?: boolean;
  /** The site lives below a path. */
  readonly contextPath?: string;
}

/** What becomes of a request whose credentials do not fit. */
export type BadLogin = 'refused' | 'denied' | 'anonymous';

/** A Jira Cloud site with one project: stateful, and with the vendor's traps. */
export interface FakeJira {
  /** The address of the site. */
  readonly url: string;
  /** `<email>:<token>`. */
  readonly apiKey: string;
  readonly project: string;
  readonly statuses: readonly string[];
  readonly requests: readonly RecordedRequest[];
  /** Everything that was asked and answered by the fake itself, for comparison with the vendor's description. */
  readonly exchanges: readonly Exchange[];
  arrived(count: number): Promise<void>;
  /** Returns the id of the new issue. */
  addIssue(issue?: NewIssue): string;
  /** By id or key. */
  issue(idOrKey: string): SiteIssue;
  editIssue(idOrKey: string, edit: IssueEdit): void;
  deleteIssue(idOrKey: string): void;
  comment(idOrKey: string, author: string, body: unknown, created?: string): void;
  /** From now on a field is asked for on the way to a status. */
  demand(status: string, fields: Readonly<Record<string, string>>): void;
  /** Stops the search index, so that searches show what was there before; `reindex` lets it catch up. */
  freezeIndex(): void;
  reindex(): void;
  /** The account is logged out: from now on its credentials count as wrong, in one of the remote's ways. */
  rejectLogins(how: BadLogin): void;
  /** The next request that matches gets this answer instead. */
  failNext(matcher: Matcher, reply: Reply): void;
  /** Runs once, just before the next request that matches is answered: what someone else does meanwhile. */
  beforeNext(matcher: Matcher, action: () => void): void;
  close(): Promise<void>;
}

/** `'GET /comment'` fits a method and the end of a path. */
export type Matcher = string | ((request: RecordedRequest) => boolean);

const STATUSES = ['Backlog', 'Selected for Development', 'In Progress', 'Human Review', 'Done', 'Canceled'];

export async function startFakeJira(options: FakeJiraOptions = {}): Promise<FakeJira> {
  const { project = 'ABC', email = 'bot@example.test', token = 'fake-token:with=colon', contextPath = '' } = options;
  const { statuses = STATUSES, workflow = {} } = options;
  const site = createSite({ project, statuses, workflow });
  const board: Board = {
    site,
    base: () => `${server.url}${contextPath}`,
    account: 'Foray Bot',
    maxPageSize: options.maxPageSize ?? 100,
    maxCommentPage: options.maxCommentPage ?? 5000,
  };
  const access: Access = { apiKey: `${email}:${token}`, readOnly: options.readOnly ?? false, logins: 'accepted' };
  const exchanges: Exchange[] = [];
  const plans: Plan[] = [];
  const handle = handlerOf(board, access, { exchanges, contextPath });
  const server = await startServer((request) => {
    const index = plans.findIndex(({ matcher }) => fits(matcher, request));
    const [plan] = index === -1 ? [] : plans.splice(index, 1);
    plan?.action?.();
    return plan?.reply ?? handle(request);
  });
  return {
    url: board.base(),
    apiKey: access.apiKey,
    project,
    statuses,
    requests: server.requests,
    exchanges,
    arrived: (count) => server.arrived(count),
    ...handsOn(site),
    rejectLogins: (how) => void (access.logins = how),
    failNext: (matcher, reply) => void plans.push({ matcher, reply }),
    beforeNext: (matcher, action) => void plans.push({ matcher, action }),
    close: () => server.close(),
  };
}

interface Plan {
  readonly matcher: Matcher;
  readonly action?: () => void;
  readonly reply?: Reply;
}

interface Access {
  readonly apiKey: string;
  readonly readOnly: boolean;
  logins: 'accepted' | BadLogin;
}

/** What people do on the web pages of the site. */
function handsOn(site: Site) {
  const known = (idOrKey: string): SiteIssue => {
    const issue = findIssue(site, idOrKey);
    if (!issue) throw new Error(`the fake has no issue ${idOrKey}`);
    return issue;
  };
  return {
    addIssue: (issue: NewIssue = {}) => addIssue(site, issue).id,
    issue: known,
    editIssue: (idOrKey: string, edit: IssueEdit) => void editIssue(site, known(idOrKey), edit),
    deleteIssue: (idOrKey: string) => void site.issues.delete(known(idOrKey).id),
    comment: (idOrKey: string, author: string, body: unknown, created?: string) =>
      void addComment(site, known(idOrKey), { author, body, created }),
    demand: (status: string, fields: Readonly<Record<string, string>>) => void site.demands.set(status, fields),
    freezeIndex: () => void (site.lagging = true),
    reindex: () => reindex(site),
  };
}

/** The API itself: credentials first, then the route. */
function handlerOf(
  board: Board,
  access: Access,
  { exchanges, contextPath }: { exchanges: Exchange[]; contextPath: string },
): Handler {
  let used = 0;
  const entries = Object.entries(routes(board)).map(([line, route]) => {
    const handle: RouteHandler = (request, params) => {
      const answer = refusal(access, request) ?? route(request, params);
      exchanges.push(exchangeOf(request, answer, contextPath));
      used += 1;
      const headers = { ...answer.headers, ...rateLimits(used) };
      return answer.body === undefined ? empty(answer.status, headers) : json(answer.body, answer.status, headers);
    };
    return [line.replace(' ', ` ${contextPath}`), handle] as const;
  });
  return router(Object.fromEntries(entries));
}

const REQUESTS_AN_HOUR = 65_000;

/** Told with every answer. No limit is ever reached here. */
function rateLimits(used: number) {
  return {
    'x-ratelimit-limit': String(REQUESTS_AN_HOUR),
    'x-ratelimit-remaining': String(Math.max(1, REQUESTS_AN_HOUR - used)),
    'x-ratelimit-reset': new Date(3_600_000 * Math.ceil(Date.now() / 3_600_000)).toISOString().replace(/:\d\d\.\d+Z/, 'Z'),
  };
}

function refusal(access: Access, request: RecordedRequest): Answer | undefined {
  const expected = `Basic ${Buffer.from(access.apiKey, 'utf8').toString('base64')}`;
  const accepted = access.logins === 'accepted' && request.headers.authorization === expected;
  if (!accepted) return BAD_LOGINS[access.logins === 'accepted' ? 'refused' : access.logins](request);
  const writes = request.method !== 'GET';
  return writes && access.readOnly ? failure(403, ['You do not have permission to edit issues in this project.']) : undefined;
}

/** The last one is the trap: wrong credentials make a caller anonymous, who sees nothing and is told so by a success. */
const BAD_LOGINS: Readonly<Record<BadLogin, (request: RecordedRequest) => Answer>> = {
  refused: () => ({
    ...failure(401, ['Client must be authenticated to access this resource.']),
    headers: { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' },
  }),
  denied: () => ({
    ...failure(401, ['Basic Authentication Failure - Reason : AUTHENTICATION_DENIED']),
    headers: { 'X-Seraph-LoginReason': 'AUTHENTICATION_DENIED' },
  }),
  anonymous: ({ path }) => ({
    ...(path.endsWith('/search/jql') ? { status: 200, body: { issues: [], isLast: true } } : noSuchIssue()),
    headers: { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' },
  }),
};

function fits(matcher: Matcher, request: RecordedRequest): boolean {
  if (typeof matcher === 'function') return matcher(request);
  const [method = '', end = ''] = matcher.split(' ');
  return request.method === method && request.path.endsWith(end);
}

function exchangeOf(
  { method, path, query, body: requestBody }: RecordedRequest,
  { status, body }: Answer,
  contextPath: string,
): Exchange {
  const responseBody = body === undefined ? '' : JSON.stringify(body);
  return { method, path: path.slice(contextPath.length), query, requestBody, status, responseBody };
}
