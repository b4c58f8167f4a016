import type { ServerResponse } from 'node:http';
import type { Handler, RecordedRequest, Reply } from '../support/http-server.ts';
import { startServer, text } from '../support/http-server.ts';
import type { Exchange } from '../support/openapi.ts';
import { answers } from './gitlab/answer.ts';
import type { FakeMergeSide } from './gitlab/merge-side.ts';
import { createMergeSide } from './gitlab/merge-side.ts';
import type { MergeWorld } from './gitlab/merge-store.ts';
import { createMergeWorld } from './gitlab/merge-store.ts';
import { apiRoutes } from './gitlab/routes.ts';
import type { FakeIssue, FakeNote, IssueChange, IssueFields, World } from './gitlab/store.ts';
import { addNote, changeIssue, createIssue, createWorld } from './gitlab/store.ts';

export interface FakeGitlabOptions {
  /** Path of the project the caller may see. */
  readonly project?: string;
  readonly token?: string;
  /** Scopes of the token: without `api` every write is refused. */
  readonly scopes?: readonly string[];
  /** Of the answer about the token itself; null for a server without that route. */
  readonly tokenFacts?: Readonly<Record<string, unknown>> | null;
  /** Pages are cut to this length, whatever is asked for. */
  readonly maxPerPage?: number;
  /** Labels of the project at the start. */
  readonly labels?: readonly string[];
  /** Labels inherited from the group. */
  readonly groupLabels?: readonly string[];
}

/** Picks requests. The path is compared as sent, below `/api/v4`. */
export interface RequestMatcher {
  readonly method?: string;
  readonly path?: RegExp;
}

/** One project of a namespace-project tracker (REST v4), with state and with the vendor's traps. */
export interface FakeGitlab {
  /** The address of the instance, without the API suffix. */
  readonly url: string;
  readonly token: string;
  readonly project: { readonly id: number; readonly path: string };
  readonly requests: readonly RecordedRequest[];
  /** What was answered by the fake itself, planned failures left out. */
  readonly exchanges: readonly Exchange[];
  addIssue(fields?: IssueFields & { readonly iid?: number }): FakeIssue;
  /** Throws when there is none. */
  issue(iid: number): FakeIssue;
  /** As another user would: labels are added and removed as told. */
  editIssue(iid: number, change: IssueChange): void;
  removeIssue(iid: number): void;
  addNote(iid: number, fields?: Partial<Omit<FakeNote, 'id'>>): FakeNote;
  /** Names of all labels, in the order of their creation. */
  labelNames(): readonly string[];
  archive(): void;
  /** Lets anybody see the project. */
  publish(): void;
  /** Merge requests, their reviews and pipelines, branches and users. */
  readonly merges: FakeMergeSide;
  /** Answers the next matching requests in this way instead. */
  failNext(matcher: RequestMatcher, reply: Reply, times?: number): void;
  /** Does something right after the next matching request was answered: an edit by somebody else in between. */
  afterNext(matcher: RequestMatcher, act: () => void): void;
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startFakeGitlab(options: FakeGitlabOptions = {}): Promise<FakeGitlab> {
  const token = options.token ?? 'glpat-fake-0123456789';
  const world = createWorld(options.project ?? 'acme/tools/rocket');
  for (const name of options.groupLabels ?? []) world.labels.push({ name, isProjectLabel: false });
  for (const name of options.labels ?? []) world.labels.push({ name, isProjectLabel: true });
  const planned: Planned[] = [];
  const exchanges: Exchange[] = [];
  const merges = createMergeWorld(world);
  const server = await startServer(guarded(options, { token, world, merges, planned, exchanges, origin: () => server.url }));
  return {
    url: server.url,
    token,
    project: world.project,
    requests: server.requests,
    exchanges,
    addIssue: (fields) => createIssue(world, fields),
    issue: (iid) => existing(world, iid),
    editIssue: (iid, change) => changeIssue(world, existing(world, iid), change),
    removeIssue: (iid) => void world.issues.delete(iid),
    addNote: (iid, fields) => addNote(world, existing(world, iid), fields),
    labelNames: () => world.labels.map(({ name }) => name),
    archive: () => {
      world.project.archived = true;
    },
    publish: () => {
      world.project.visibility = 'public';
    },
    merges: createMergeSide(merges),
    failNext: (matcher, reply, times = 1) => {
      for (let count = 0; count < times; count += 1) planned.push({ matcher, reply });
    },
    afterNext: (matcher, act) => void planned.push({ matcher, act }),
    arrived: (count) => server.arrived(count),
    close: () => server.close(),
  };
}

interface Planned {
  readonly matcher: RequestMatcher;
  readonly reply?: Reply;
  readonly act?: () => void;
}

interface Gate {
  readonly token: string;
  readonly world: World;
  readonly merges: MergeWorld;
  readonly planned: Planned[];
  readonly exchanges: Exchange[];
  origin(): string;
}

// What stands before the routes: planned failures, the address, the token and its scopes.
function guarded(options: FakeGitlabOptions, { token, world, merges, planned, exchanges, origin }: Gate): Handler {
  const scopes = options.scopes ?? ['api'];
  const lifetime = { created_at: '2026-01-31T08:00:00.000Z', expires_at: '2027-01-31' };
  const facts = { id: 42, name: 'foray', revoked: false, active: true, scopes, user_id: 1001, ...lifetime };
  const about = options.tokenFacts === null ? null : { ...facts, ...options.tokenFacts };
  const routes = apiRoutes({ world, merges, origin, maxPerPage: options.maxPerPage ?? 100, token: about });
  const answer: Handler = (request) => {
    if (!request.path.startsWith('/api/v4/')) return text('<!DOCTYPE html><title>Not Found</title>', 404);
    if (request.headers['private-token'] !== token) return answers.unauthorized();
    if (about?.revoked === true) return answers.revoked();
    if (request.method !== 'GET' && !scopes.includes('api')) return answers.insufficientScope();
    return routes(request);
  };
  let observed = 0;
  return async (request) => {
    const index = planned.findIndex(({ matcher }) => isMatch(matcher, request));
    const plan = index === -1 ? undefined : planned.splice(index, 1)[0];
    if (plan?.reply) return plan.reply;
    const answered = await answer(request);
    observed += 1;
    const reply = answered && noted(request, rateLimited(answered, observed), exchanges);
    return plan?.act && reply ? afterwards(reply, plan.act) : reply;
  };
}

// What goes out is written down as it goes.
function noted(request: RecordedRequest, reply: Reply, exchanges: Exchange[]): Reply {
  const { method, path, query, body: requestBody } = request;
  return (response) => {
    const end = response.end.bind(response) as (chunk?: string | Buffer) => ServerResponse;
    response.end = ((chunk?: string | Buffer) => {
      exchanges.push({ method, path, query, requestBody, status: response.statusCode, responseBody: String(chunk ?? '') });
      return end(chunk);
    }) as ServerResponse['end'];
    reply(response);
  };
}

const REQUESTS_A_MINUTE = 2000;

// Told with every answer, also where nothing is refused. No limit is ever reached here.
function rateLimited(reply: Reply, observed: number): Reply {
  return (response) => {
    response.setHeader('RateLimit-Limit', String(REQUESTS_A_MINUTE));
    response.setHeader('RateLimit-Name', 'throttle_authenticated_api');
    response.setHeader('RateLimit-Observed', String(observed));
    response.setHeader('RateLimit-Remaining', String(Math.max(1, REQUESTS_A_MINUTE - observed)));
    response.setHeader('RateLimit-Reset', String(60 * Math.ceil(Date.now() / 60_000)));
    reply(response);
  };
}

function isMatch({ method, path }: RequestMatcher, request: RecordedRequest): boolean {
  return (method ?? request.method) === request.method && (path ?? /^/).test(request.path.replace(/^\/api\/v4/, ''));
}

// Before the client can see the end of the answer, so that what it does next comes after the act.
function afterwards(reply: Reply, act: () => void): Reply {
  act();
  return reply;
}

function existing(world: World, iid: number): FakeIssue {
  const issue = world.issues.get(iid);
  if (!issue) throw new Error(`the fake has no issue #${iid}`);
  return issue;
}
