import { createHash } from 'node:crypto';
import type { RecordedRequest, Reply } from '../support/http-server.ts';
import { empty, startServer, text } from '../support/http-server.ts';
import type { Exchange } from '../support/openapi.ts';
import { type Answer, refusal, type RouteContext } from './github/answer.ts';
import { answerGraph } from './github/graphql.ts';
import { createPullStore, type PullStore } from './github/pull-store.ts';
import { route } from './github/routes.ts';
import { createStore, type FakeComment, type FakeIssue, type NewComment, type NewIssue } from './github/store.ts';

export interface FakeGithubOptions {
  /** `owner/name` of the repository. */
  readonly project?: string;
  readonly token?: string;
  /** Labels that exist from the start; those of added issues come along by themselves. */
  readonly labels?: readonly string[];
  /** Such as `/api/v3` of an enterprise edition. */
  readonly basePath?: string;
  /** Adding an unknown label creates it, as it does for those who may push. Otherwise it is refused with 422. */
  readonly createsLabels?: boolean;
  /** False: a token that only reads. */
  readonly canWrite?: boolean;
  /** False: an edition that knows neither blockers nor parents. */
  readonly dependencies?: boolean;
  readonly incompleteResults?: boolean;
  readonly pageSizeCap?: number;
  /** Requests before the primary limit, by bucket. A 304 costs nothing. */
  readonly limits?: { readonly core?: number; readonly search?: number; readonly graphql?: number };
  /** What a classic token tells of itself with every answer; other tokens tell nothing. */
  readonly scopes?: string;
  /** How the deletion of a branch that is gone is refused. */
  readonly missingRefStatus?: 404 | 422;
  /** Accounts that are bots although their names do not say so. */
  readonly bots?: readonly string[];
}

/** Either `GET /repos/…` as sent, or a pattern of it. */
export type RequestMatcher = string | RegExp;

/** A hosted repository issue tracker on a loopback port, with the habits of the real one. */
export interface FakeGithub {
  /** What goes into `tracker.endpoint`. */
  readonly url: string;
  readonly token: string;
  readonly requests: readonly RecordedRequest[];
  /** Requests with what was answered, except those that `failNext` answered. */
  readonly exchanges: readonly Exchange[];
  /** The merge-request side of the main repository. */
  readonly pulls: PullStore;
  /** What arrived where the logs of jobs are kept, which is another host. */
  readonly logRequests: readonly RecordedRequest[];
  /** Resolves once this many requests have arrived. */
  arrived(count: number): Promise<void>;
  addLabel(name: string, repo?: string): void;
  addIssue(parts?: NewIssue): FakeIssue;
  addComment(number: number, comment: NewComment): FakeComment;
  /** The live record; throws when there is none. */
  issue(number: number | string, repo?: string): FakeIssue;
  /** A change by somebody else. */
  editIssue(number: number | string, change: Partial<Omit<FakeIssue, 'number'>>, repo?: string): void;
  /** Lets an account be nothing to the repository. */
  addStranger(login: string): void;
  /** As a person does it on the web page: with a trace in the journal. */
  label(number: number | string, name: string): void;
  unlabel(number: number | string, name: string): void;
  /** Lets anybody see the repository. */
  publish(): void;
  /** Answers the next matching request in this way instead. */
  failNext(matcher: RequestMatcher, reply: Reply): void;
  /** Lets something happen just before the next matching request is answered: the edit that comes in between. */
  before(matcher: RequestMatcher, action: () => void): void;
  /** Requests left of a bucket. */
  remaining(bucket: Bucket): number;
  close(): Promise<void>;
}

type Bucket = 'core' | 'search' | 'graphql';
const LIMITS: Readonly<Record<Bucket, number>> = { core: 5000, search: 30, graphql: 5000 };

const STATE_LABELS = ['backlog', 'in-progress', 'review', 'done', 'wontfix', 'needs-review'];
const API_VERSIONS = ['2022-11-28', '2026-03-10'];

export async function startFakeGithub(options: FakeGithubOptions = {}): Promise<FakeGithub> {
  const { token = 'fake-token-0123456789', project = 'acme/widgets', basePath = '' } = options;
  const store = createStore(project, options.labels ?? STATE_LABELS);
  for (const login of options.bots ?? []) store.bots.add(login);
  const pulls = createPullStore(store);
  const left: Record<Bucket, number> = { ...LIMITS, ...options.limits };
  const exchanges: Exchange[] = [];
  const failures: { matcher: RequestMatcher; reply: Reply }[] = [];
  const actions: { matcher: RequestMatcher; action: () => void }[] = [];

  const context = (request: RecordedRequest): RouteContext => ({
    api: server.url + basePath,
    apiVersion: String(request.headers['x-github-api-version'] ?? '2022-11-28'),
    store,
    pulls,
    logStore: logs.url,
    missingRefStatus: options.missingRefStatus ?? 422,
    dependencies: options.dependencies ?? true,
    createsLabels: options.createsLabels ?? false,
    canWrite: options.canWrite ?? true,
    incompleteResults: options.incompleteResults ?? false,
    pageSizeCap: options.pageSizeCap ?? 100,
  });
  const answer = (request: RecordedRequest): Answer => {
    const run = runnerFor(request, context(request), basePath);
    if (!run) return refusal(404, 'Not Found');
    const answered = refuseLogin(request, token) ?? metered(request, left, run);
    const scopes: Record<string, string> = options.scopes === undefined ? {} : { 'x-oauth-scopes': options.scopes };
    return { ...answered, headers: { ...answered.headers, ...scopes } };
  };
  const server = await startServer((request) => {
    const failure = taken(failures, request);
    if (failure) return failure.reply;
    taken(actions, request)?.action();
    const { reply, exchange } = onTheWire(request, answer(request));
    exchanges.push(exchange);
    return reply;
  });

  const logs = await startServer(({ path }) => {
    const job = pulls.findJob(Number(path.split('/').at(-1)));
    return job ? text(job.log, 200, { 'content-type': 'text/plain' }) : empty(404);
  });

  const issue = (number: number | string, repo = project): FakeIssue => {
    const found = store.find({ repo, number: Number(number) });
    if (!found) throw new Error(`the fake has no issue ${repo}#${number}`);
    return found.issue;
  };
  return {
    url: server.url + basePath,
    token,
    requests: server.requests,
    exchanges,
    pulls,
    logRequests: logs.requests,
    arrived: (count) => server.arrived(count),
    addLabel: (name, repo = project) => void store.addLabel(store.repo(repo) ?? store.addRepo(repo), name),
    addIssue: (parts = {}) => store.addIssue(parts),
    addComment: (number, comment) => store.addComment(issue(number), comment),
    issue,
    editIssue: (number, change, repo = project) => {
      const labels = change.labels?.map((name) => store.addLabel(store.repo(repo) ?? store.main, name));
      Object.assign(issue(number, repo), { updatedAt: store.tick() }, change, labels && { labels });
    },
    addStranger: (login) => void store.strangers.add(login),
    label: (number, name) => store.label(store.main, issue(number), name, 'ann'),
    unlabel: (number, name) => void store.unlabel(issue(number), name, 'ann'),
    publish: () => void (store.isPublic = true),
    failNext: (matcher, reply) => void failures.push({ matcher, reply }),
    before: (matcher, action) => void actions.push({ matcher, action }),
    remaining: (bucket) => left[bucket],
    close: async () => {
      await Promise.all([server.close(), logs.close()]);
    },
  };
}

/** What answers below the base path; GraphQL stands below it, or beside it in an enterprise edition. */
function runnerFor(request: RecordedRequest, context: RouteContext, basePath: string): (() => Answer) | undefined {
  const graph = basePath.endsWith('/api/v3') ? `${basePath.slice(0, -'/v3'.length)}/graphql` : `${basePath}/graphql`;
  if (request.path === graph) return () => answerGraph(context, request);
  if (!request.path.startsWith(`${basePath}/`)) return undefined;
  return () => route(context, request, request.path.slice(basePath.length));
}

/** The first entry whose matcher fits, taken out. */
function taken<T extends { matcher: RequestMatcher }>(waiting: T[], { method, path }: RecordedRequest): T | undefined {
  const line = `${method} ${path}`;
  const index = waiting.findIndex(({ matcher }) => (typeof matcher === 'string' ? matcher === line : matcher.test(line)));
  return index === -1 ? undefined : waiting.splice(index, 1)[0];
}

// What every request must bring, before anything is looked at.
function refuseLogin({ headers }: RecordedRequest, token: string): Answer | undefined {
  if (!headers['user-agent'])
    return refusal(403, 'Request forbidden by administrative rules. Please make sure your request has a User-Agent header');
  const [, scheme = '', sent] = /^(\S+) (.*)$/.exec(headers.authorization ?? '') ?? [];
  if (!['bearer', 'token'].includes(scheme.toLowerCase()) || sent !== token) {
    return refusal(401, headers.authorization ? 'Bad credentials' : 'Requires authentication');
  }
  const version = headers['x-github-api-version'];
  if (version !== undefined && !API_VERSIONS.includes(String(version)))
    return refusal(400, `The API version ${String(version)} is not supported`);
  return undefined;
}

// Searches and GraphQL have buckets of their own, and what is unchanged is free of charge, as is asking what is left.
function metered(request: RecordedRequest, left: Record<Bucket, number>, run: () => Answer): Answer {
  if (request.path.endsWith('/rate_limit')) return { status: 200, body: allowance(left) };
  const bucket = bucketOf(request.path);
  const facts = () => ({
    'x-ratelimit-limit': String(LIMITS[bucket]),
    'x-ratelimit-remaining': String(left[bucket]),
    'x-ratelimit-reset': '1790000000',
    'x-ratelimit-resource': bucket,
  });
  if (left[bucket] <= 0) return { ...refusal(403, 'API rate limit exceeded for user ID 1.'), headers: facts() };
  const plain = run();
  const answer = conditional(request, plain);
  if (answer.status !== 304) left[bucket] -= 1;
  return { ...answer, headers: { ...answer.headers, ...facts() } };
}

function bucketOf(path: string): Bucket {
  if (path.endsWith('/search/issues')) return 'search';
  return path.endsWith('/graphql') ? 'graphql' : 'core';
}

function allowance(left: Record<Bucket, number>): unknown {
  const entry = (remaining: number): unknown => ({ limit: 5000, remaining, reset: 1_790_000_000, used: 0 });
  return { resources: Object.fromEntries(Object.entries(left).map(([bucket, remaining]) => [bucket, entry(remaining)])) };
}

// The tag is of the entries alone, and a 304 carries no links.
function conditional(request: RecordedRequest, answer: Answer): Answer {
  if (request.method !== 'GET' || answer.status !== 200) return answer;
  const etag = `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex')}"`;
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
  return { ...answer, headers: { ...answer.headers, etag } };
}

function onTheWire(request: RecordedRequest, { status, body, headers = {} }: Answer): { reply: Reply; exchange: Exchange } {
  const { method, path, query, body: requestBody } = request;
  const responseBody = body === undefined ? '' : JSON.stringify(body);
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return {
    reply: responseBody === '' ? empty(status, headers) : text(responseBody, status, { ...type, ...headers }),
    exchange: { method, path, query, requestBody, status, responseBody },
  };
}
