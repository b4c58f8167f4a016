import type { Handler, RecordedRequest, Reply, RouteHandler } from '../support/http-server.ts';
import { empty, json, router, startServer } from '../support/http-server.ts';
import type { Exchange } from '../support/openapi.ts';
import type { Answer, Instance, Route, Routes } from './gitea/answer.ts';
import { failure, notFound, ok } from './gitea/answer.ts';
import { commitRoutes } from './gitea/commit-routes.ts';
import { issueRoutes, viewOf } from './gitea/issue-routes.ts';
import { labelRoutes, organizationRoutes } from './gitea/label-routes.ts';
import { pullRoutes, timelineRoutes } from './gitea/pull-routes.ts';
import type { FakePull, NewPull, NewReview, NewStatus, PullEdit } from './gitea/pull-store.ts';
import { addPull, addReview, addStatus, mergePull, pullOf, setHead } from './gitea/pull-store.ts';
import type { FakeIssue, FakeLabel, IssueEdit, NewIssue } from './gitea/store.ts';
import { addComment, addIssue, addLabel, createStore, deleteLabels, editIssue } from './gitea/store.ts';
import { repositoryBody, userBody } from './gitea/wire.ts';

export interface FakeGiteaOptions {
  readonly owner?: string;
  readonly repo?: string;
  readonly token?: string;
  /** Scopes of the token; absent ones are answered 403. */
  readonly scopes?: readonly string[];
  /** A second token, whose scopes are those of a tracker alone. */
  readonly trackerToken?: string;
  /** Labels that the repository has from the start. */
  readonly labels?: readonly string[];
  /** Labels of the organization; naming any makes the owner one. */
  readonly organizationLabels?: readonly string[];
  readonly maxPageSize?: number;
  readonly dependenciesEnabled?: boolean;
  /** An older server, whose dependencies come without link and total. */
  readonly bareDependencies?: boolean;
  /** The name the server knows itself by, which its links carry. */
  readonly rootUrl?: string;
  /** False: the user of the token may only read. */
  readonly mayPush?: boolean;
  /** An old server, which answers an empty page of statuses without a body. */
  readonly emptyStatusBody?: boolean;
}

/** A Gitea or Forgejo with one repository: stateful, and with the vendor's traps. */
export interface FakeGitea {
  /** The address of the instance, without the API suffix. */
  readonly url: string;
  readonly token: string;
  /** `owner/repo`. */
  readonly project: string;
  readonly requests: readonly RecordedRequest[];
  /** Everything that was asked and answered by the fake itself, for comparison with the vendor's description. */
  readonly exchanges: readonly Exchange[];
  arrived(count: number): Promise<void>;
  /** Returns the number of the new issue. */
  addIssue(issue?: NewIssue): number;
  issue(number: number): ReturnType<typeof viewOf>;
  editIssue(number: number, edit: IssueEdit): void;
  comment(number: number, author: string, body: string, createdAt?: string): void;
  addLabel(name: string, options?: { ofOrganization?: boolean }): number;
  /** Deletes a label everywhere, as the web page does. */
  deleteLabel(name: string): void;
  labels(): readonly FakeLabel[];
  archive(): void;
  /** Gives a user a permission: `owner`, `admin`, `write`, `read` or `none`. */
  permit(login: string, permission: string): void;
  /** Whether the token's user administers the repository, and may ask what others may do. */
  administrate(may: boolean): void;
  /** Lets anybody see the repository. */
  publish(): void;
  /** Returns the number of the new pull request. */
  addPull(pull?: NewPull): number;
  pull(number: number): FakePull;
  editPull(number: number, edit: PullEdit): void;
  push(number: number, sha: string): void;
  /** Somebody else merges it. */
  mergePull(number: number): void;
  /** Returns the id of the review. */
  review(number: number, review?: NewReview): number;
  status(sha: string, status?: NewStatus): void;
  branches(): readonly string[];
  /** A branch that nobody proposed yet. */
  addBranch(name: string): void;
  /** The next request that matches gets this answer instead. */
  failNext(matcher: Matcher, reply: Reply): void;
  /** Runs once, just before the next request that matches is answered: what someone else does meanwhile. */
  beforeNext(matcher: Matcher, action: () => void): void;
  close(): Promise<void>;
}

/** `'GET /issues/1'` fits a method and the end of a path. */
export type Matcher = string | ((request: RecordedRequest) => boolean);

const ALL_SCOPES = ['read:user', 'write:repository', 'write:issue', 'read:organization'];
const TRACKER_SCOPES = ['read:user', 'read:repository', 'write:issue'];
const TOKEN = '0123456789abcdef0123456789abcdef01234567';

export async function startFakeGitea(options: FakeGiteaOptions = {}): Promise<FakeGitea> {
  const { token = TOKEN, scopes = ALL_SCOPES, trackerToken = '' } = options;
  const tokens = new Map([
    [trackerToken, TRACKER_SCOPES],
    [token, scopes],
  ]);
  const instance = instanceOf(options, () => options.rootUrl ?? server.url);
  const exchanges: Exchange[] = [];
  const plans: Plan[] = [];
  const route = handlerOf(instance, tokens, exchanges);
  const server = await startServer((request) => {
    const index = plans.findIndex(({ matcher }) => fits(matcher, request));
    const [plan] = index === -1 ? [] : plans.splice(index, 1);
    plan?.action?.();
    return plan?.reply ?? route(request);
  });

  return {
    url: server.url,
    token,
    project: `${instance.store.owner}/${instance.store.repo}`,
    requests: server.requests,
    exchanges,
    arrived: (count) => server.arrived(count),
    ...handsOn(instance),
    failNext: (matcher, reply) => void plans.push({ matcher, reply }),
    beforeNext: (matcher, action) => void plans.push({ matcher, action }),
    close: () => server.close(),
  };
}

function instanceOf(options: FakeGiteaOptions, base: () => string): Instance {
  const store = createStore(options.owner ?? 'acme', options.repo ?? 'app');
  for (const name of options.labels ?? []) addLabel(store, name);
  for (const name of options.organizationLabels ?? []) addLabel(store, name, { ofOrganization: true });
  return {
    store,
    base,
    login: 'foray-bot',
    maxPageSize: options.maxPageSize ?? 50,
    ownerIsOrganization: (options.organizationLabels ?? []).length > 0,
    dependenciesEnabled: options.dependenciesEnabled ?? true,
    bareDependencies: options.bareDependencies ?? false,
    archived: false,
    permissions: new Map([['alice', 'write']]),
    isAdmin: true,
    isPublic: false,
    mayPush: options.mayPush ?? true,
    emptyStatusBody: options.emptyStatusBody ?? false,
  };
}

interface Plan {
  readonly matcher: Matcher;
  readonly action?: () => void;
  readonly reply?: Reply;
}

/** What people do on the web pages of the forge. */
function handsOn(instance: Instance) {
  const { store } = instance;
  const known = (number: number): FakeIssue => {
    const issue = store.issues.get(number);
    if (!issue) throw new Error(`the fake has no issue ${number}`);
    return issue;
  };
  return {
    addIssue: (issue: NewIssue = {}) => addIssue(store, issue).number,
    issue: (number: number) => viewOf(store, known(number)),
    editIssue: (number: number, edit: IssueEdit) => editIssue(store, known(number), edit),
    comment: (number: number, author: string, body: string, createdAt?: string) =>
      void addComment(store, known(number), { author, body, ...(createdAt ? { createdAt } : {}) }),
    addLabel: (name: string, labelOptions?: { ofOrganization?: boolean }) => addLabel(store, name, labelOptions).id,
    deleteLabel: (name: string) => deleteLabels(store, name),
    labels: () => store.labels,
    archive: () => void (instance.archived = true),
    permit: (login: string, permission: string) => void instance.permissions.set(login, permission),
    administrate: (may: boolean) => void (instance.isAdmin = may),
    publish: () => void (instance.isPublic = true),
    ...handsOnPulls(instance),
  };
}

function handsOnPulls({ store, login }: Instance) {
  const known = (number: number): FakePull => {
    const issue = store.issues.get(number);
    const pull = issue && pullOf(store, issue);
    if (!pull) throw new Error(`the fake has no pull request ${number}`);
    return pull;
  };
  return {
    addPull: (pull: NewPull = {}) => addPull(store, { author: login, ...pull }).number,
    pull: known,
    editPull: (number: number, edit: PullEdit) => void Object.assign(known(number), edit),
    push: (number: number, sha: string) => setHead(store, known(number), sha),
    mergePull: (number: number) => mergePull(store, known(number), 'alice'),
    review: (number: number, review: NewReview = {}) => addReview(store, known(number), review).id,
    status: (sha: string, status: NewStatus = {}) => void addStatus(store, sha, status),
    branches: () => [...store.branches.keys()],
    addBranch: (name: string) => void store.branches.set(name, 'f'.repeat(40)),
  };
}

/** The API itself: token, scope and repository first, then the route. */
function handlerOf(instance: Instance, tokens: ReadonlyMap<string, readonly string[]>, exchanges: Exchange[]): Handler {
  const { owner, repo } = instance.store;
  const refusal = (request: RecordedRequest, params: Readonly<Record<string, string>>, scope: string): Answer | undefined => {
    const scopes = tokens.get(tokenOf(request));
    if (!scopes) return failure(instance, 401, 'invalid username, password or token');
    if (!allows(scopes, scope)) {
      const told = `required=[${scope}], token scope=${scopes.join()}`;
      return failure(instance, 403, `token does not have at least one of required scope(s), ${told}`);
    }
    const elsewhere = params.owner !== undefined && (params.owner !== owner || params.repo !== repo);
    return elsewhere ? notFound(instance, 'GetUserByName') : undefined;
  };
  const entries = Object.entries(allRoutes(instance)).map(([line, { route, scope }]) => {
    const handle: RouteHandler = (request, params) => {
      const answer = refusal(request, params, scope) ?? route(request, params);
      exchanges.push(exchangeOf(request, answer));
      return replyOf(answer);
    };
    return [line, handle] as const;
  });
  return router(Object.fromEntries(entries));
}

/** Every route with the scope it asks of a token. */
function allRoutes(instance: Instance): Readonly<Record<string, { route: Route; scope: string }>> {
  const { store, base } = instance;
  const repository = '/api/v1/repos/:owner/:repo';
  const plain: Routes = {
    'GET /user': () => ok(userBody(instance.login, base())),
    'GET /repos/:owner/:repo': () => ok(repositoryBody(store, base(), instance)),
    'GET /repos/:owner/:repo/collaborators/:login/permission': (_, { login = '' }) => {
      if (!instance.isAdmin && login !== instance.login) {
        return failure(
          instance,
          403,
          'Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own',
        );
      }
      if (login === 'no-such-user') return failure(instance, 404, `user does not exist [uid: 0, name: ${login}]`);
      const permission = instance.permissions.get(login) ?? 'read';
      return ok({ permission, role_name: permission, user: userBody(login, base()) });
    },
    ...organizationRoutes(instance),
  };
  const ofIssues = { ...issueRoutes(instance), ...labelRoutes(instance), ...timelineRoutes(instance) };
  const ofRepository = { ...pullRoutes(instance), ...commitRoutes(instance) };
  const scoped = (routes: Routes, prefix: string, scopeOf: (line: string) => string) =>
    Object.entries(routes).map(([line, route]) => [line.replace(' ', ` ${prefix}`), { route, scope: scopeOf(line) }] as const);
  const access = (line: string): string => (line.startsWith('GET') ? 'read' : 'write');
  return Object.fromEntries([
    ...scoped(plain, '/api/v1', (line) =>
      line.includes('/user') ? 'read:user' : line.includes('/orgs/') ? 'read:organization' : 'read:repository',
    ),
    ...scoped(ofIssues, repository, (line) => `${access(line)}:issue`),
    ...scoped(ofRepository, repository, (line) => `${access(line)}:repository`),
  ]);
}

// Both schemes are accepted, in any case. A token in the query is, too, but none of ours may ever stand there.
function tokenOf({ headers, query }: RecordedRequest): string {
  if (query.has('token') || query.has('access_token')) throw new Error('a token was sent in the query');
  const [, given] = /^(?:token|bearer) (.+)$/i.exec(headers.authorization ?? '') ?? [];
  return given ?? 'none';
}

function allows(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || scopes.includes(scope.replace('read:', 'write:'));
}

function fits(matcher: Matcher, request: RecordedRequest): boolean {
  if (typeof matcher === 'function') return matcher(request);
  const [method = '', end = ''] = matcher.split(' ');
  return request.method === method && request.path.endsWith(end);
}

/** With the headers that stand on every answer of the vendor, and those that tell a browser of links and totals. */
function replyOf({ status, body, headers = {} }: Answer): Reply {
  const exposed = EXPOSED.filter((name) => Object.hasOwn(headers, name.toLowerCase())).join(', ');
  const all = { ...FIXED, ...(exposed === '' ? {} : { 'access-control-expose-headers': exposed }), ...headers };
  return body === undefined
    ? empty(status, all)
    : json(body, status, { ...all, 'content-type': 'application/json;charset=utf-8' });
}

const EXPOSED = ['Link', 'X-Total-Count'];
const FIXED = { 'cache-control': 'max-age=0, private, must-revalidate, no-transform', 'x-content-type-options': 'nosniff' };

function exchangeOf({ method, path, query, body: requestBody }: RecordedRequest, { status, body }: Answer): Exchange {
  return { method, path, query, requestBody, status, responseBody: body === undefined ? '' : JSON.stringify(body) };
}
