import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import { execute, parse, validate } from 'graphql';
import type { RecordedRequest, Reply } from '../support/http-server.ts';
import { json, startServer, text } from '../support/http-server.ts';
import { errorBody, notAuthenticated, remoteError } from './linear/failures.ts';
import { rootOf } from './linear/resolvers.ts';
import { OWN_SCHEMA } from './linear/schema.ts';
import type { FakeIssue, FakeLabel, NewComment, NewIssue, World, WorldOptions } from './linear/store.ts';
import { addComment, addIssue, addLabel, createWorld, identifierOf, knownIssue, stateNamed } from './linear/store.ts';

export interface FakeLinearOptions extends WorldOptions {
  readonly apiKey?: string;
  /** The vendor's published schema in place of the fake's own part of it. */
  readonly schema?: GraphQLSchema;
  /** Leaves out fields the schema does not know instead of refusing the document: for clients that ask for everything. */
  readonly lenient?: boolean;
}

/** A Linear workspace with two teams: stateful, and with the vendor's traps. */
export interface FakeLinear {
  /** The GraphQL endpoint. */
  readonly url: string;
  readonly apiKey: string;
  /** Key of the first team; the second is OPS. */
  readonly project: string;
  readonly requests: readonly RecordedRequest[];
  arrived(count: number): Promise<void>;
  addIssue(issue?: NewIssue): { readonly id: string; readonly identifier: string };
  issue(name: string): IssueView;
  editIssue(name: string, edit: IssueEdit): void;
  /** A relation of any type from another issue to this one. */
  relate(name: string, type: string, other: string): void;
  comment(name: string, comment: NewComment): void;
  /** Of a team by its key, or of the workspace. Returns its id. */
  addLabel(name: string, options?: { team?: string; isGroup?: boolean }): string;
  labels(): readonly { readonly name: string; readonly team: string | null }[];
  renameState(from: string, to: string): void;
  /** Somebody deletes it and makes one of the same name. */
  recreateState(name: string): void;
  /** What the headers say is left from now on. */
  allow(left: { requests?: number; complexity?: number; resetAt?: number }): void;
  /** The next request that matches gets this answer instead. */
  failNext(matcher: Matcher, reply: Reply): void;
  /** Runs once, just before the next request that matches is answered: what someone else does meanwhile. */
  beforeNext(matcher: Matcher, action: () => void): void;
  close(): Promise<void>;
}

export interface IssueEdit {
  readonly state?: string;
  readonly title?: string;
  readonly priority?: number;
  readonly archived?: boolean;
  readonly trashed?: boolean;
}

export type IssueView = ReturnType<typeof viewOf>;
/** A text fits when the document holds it, such as `issueUpdate(`. */
export type Matcher = string | ((request: RecordedRequest) => boolean);

export async function startFakeLinear(options: FakeLinearOptions = {}): Promise<FakeLinear> {
  const { apiKey = 'lin_api_fake0123456789', lenient = false } = options;
  const world = createWorld(options);
  const api: Api = {
    world,
    apiKey,
    lenient,
    schema: options.schema ?? OWN_SCHEMA,
    left: { requests: 1500, complexity: 250_000, resetAt: Date.UTC(2026, 2, 1, 10) },
  };
  const plans: Plan[] = [];
  const server = await startServer((request) => {
    const index = plans.findIndex(({ matcher }) => matches(matcher, request));
    const [plan] = index === -1 ? [] : plans.splice(index, 1);
    plan?.action?.();
    return plan?.reply ?? answer(api, request);
  });
  return {
    url: `${server.url}/graphql`,
    apiKey,
    project: world.teams[0]!.key,
    requests: server.requests,
    arrived: (count) => server.arrived(count),
    ...handsOn(world),
    allow: (left) => void Object.assign(api.left, left),
    failNext: (matcher, reply) => void plans.push({ matcher, reply }),
    beforeNext: (matcher, action) => void plans.push({ matcher, action }),
    close: () => server.close(),
  };
}

interface Api {
  readonly world: World;
  readonly apiKey: string;
  readonly lenient: boolean;
  readonly schema: GraphQLSchema;
  readonly left: { requests: number; complexity: number; resetAt: number };
}

interface Plan {
  readonly matcher: Matcher;
  readonly action?: () => void;
  readonly reply?: Reply;
}

/** What people do in the web application. */
function handsOn(world: World) {
  return {
    addIssue: (given: NewIssue = {}) => {
      const issue = addIssue(world, given);
      return { id: issue.id, identifier: identifierOf(issue) };
    },
    issue: (name: string) => viewOf(knownIssue(world, name)),
    editIssue: (name: string, edit: IssueEdit) => editIssue(world, knownIssue(world, name), edit),
    relate: (name: string, type: string, other: string) => {
      knownIssue(world, name).inverseRelations.push({ id: world.nextId(), type, issue: knownIssue(world, other) });
    },
    comment: (name: string, comment: NewComment) => void addComment(world, knownIssue(world, name), comment),
    addLabel: (name: string, { team, isGroup }: { team?: string; isGroup?: boolean } = {}) =>
      addLabel(world, name, { isGroup, team: world.teams.find(({ key }) => key === team) ?? null }).id,
    labels: () => world.labels.map((label) => ({ name: label.name, team: label.team?.key ?? null })),
    renameState: (from: string, to: string) => void (stateNamed(world.teams[0]!, from).name = to),
    recreateState: (name: string) => {
      const { states } = world.teams[0]!;
      const old = stateNamed(world.teams[0]!, name);
      states[states.indexOf(old)] = { ...old, id: world.nextId() };
    },
  };
}

function editIssue(world: World, issue: FakeIssue, { state, title, priority, archived, trashed }: IssueEdit): void {
  if (state !== undefined) issue.state = stateNamed(issue.team, state);
  if (title !== undefined) issue.title = title;
  if (priority !== undefined) issue.priority = priority;
  issue.updatedAt = world.now();
  if (archived !== undefined) issue.archivedAt = archived ? issue.updatedAt : null;
  if (trashed !== undefined) issue.trashed = trashed || null;
}

function viewOf(issue: FakeIssue) {
  return {
    id: issue.id,
    identifier: identifierOf(issue),
    title: issue.title,
    state: issue.state.name,
    labels: [...issue.labels].map((label: FakeLabel) => label.name),
    comments: issue.comments.map(({ body, user }) => ({ body, author: user?.displayName ?? '' })),
  };
}

/** The endpoint itself: method, key, document, execution. */
async function answer(api: Api, request: RecordedRequest): Promise<Reply> {
  if (request.method !== 'POST' || request.path !== '/graphql') return text('Not found', 404);
  const headers = {
    'x-complexity': '12',
    'x-ratelimit-requests-limit': '1500',
    'x-ratelimit-requests-remaining': String(api.left.requests),
    'x-ratelimit-requests-reset': String(api.left.resetAt),
    'x-ratelimit-complexity-limit': '250000',
    'x-ratelimit-complexity-remaining': String(api.left.complexity),
    'x-ratelimit-complexity-reset': String(api.left.resetAt),
  };
  const refusal = refusalOf(request, api.apiKey);
  if (refusal) return json(errorBody(refusal), refusal.extensions.statusCode === 400 ? 400 : 401, headers);
  const { status, body } = await perform(api, request.json() as { query: string; variables?: Record<string, unknown> });
  return json(body, status, headers);
}

function refusalOf({ headers }: RecordedRequest, apiKey: string): GraphQLError | undefined {
  const { authorization } = headers;
  if (authorization === apiKey) return undefined;
  if (authorization !== `Bearer ${apiKey}`) return notAuthenticated();
  const message = "It looks like you're trying to use an API key as a Bearer token. Remove the Bearer prefix.";
  return remoteError(message, 'authentication error', { statusCode: 400 });
}

async function perform(
  { world, schema, lenient }: Api,
  { query, variables }: { query: string; variables?: Record<string, unknown> },
): Promise<{ status: number; body: object }> {
  let document: DocumentNode;
  try {
    document = parse(query);
  } catch (error) {
    return { status: 400, body: errorBody(graphqlError(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')) };
  }
  const [fault] = lenient ? [] : validate(schema, document);
  if (fault) return { status: 400, body: errorBody(graphqlError(fault, 'GRAPHQL_VALIDATION_FAILED')) };
  const result: ExecutionResult = await execute({ schema, document, rootValue: rootOf(world), variableValues: variables });
  // Variables that do not fit keep the document from being run at all: then there is no `data`.
  if (result.errors?.[0] && !('data' in result)) {
    return { status: 400, body: errorBody(graphqlError(result.errors[0], 'BAD_USER_INPUT')) };
  }
  return { status: 200, body: result };
}

function graphqlError({ message }: GraphQLError, code: string): GraphQLError {
  return remoteError(message, 'graphql error', { code, statusCode: 400 });
}

function matches(matcher: Matcher, request: RecordedRequest): boolean {
  return typeof matcher === 'function' ? matcher(request) : request.body.includes(matcher);
}
