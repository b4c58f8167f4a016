import type { RecordedRequest } from '../../support/http-server.ts';
import { JqlFault, parseJql } from './jql.ts';
import type { Site, SiteIssue } from './store.ts';
import { addComment, editIssue, findIssue, transitionsOf } from './store.ts';
import type { Wire } from './wire.ts';
import { userBody, commentBody, issueBody, transitionBody } from './wire.ts';

/** What a route answers, before it becomes bytes. An absent body is an empty one. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Route = (request: RecordedRequest, params: Readonly<Record<string, string>>) => Answer;

export interface Board extends Wire {
  /** The account that the token belongs to. */
  readonly account: string;
  /** The remote's own limits: a larger page is silently made this small. */
  readonly maxPageSize: number;
  readonly maxCommentPage: number;
}

export function failure(status: number, messages: readonly string[], errors: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: { errorMessages: messages, errors } };
}

export function noSuchIssue(): Answer {
  return failure(404, ['Issue does not exist or you do not have permission to see it.']);
}

export function routes(board: Board): Readonly<Record<string, Route>> {
  const issue = '/rest/api/3/issue/:id';
  return {
    'GET /rest/api/3/search/jql': ({ query }) => search(board, query),
    'POST /rest/api/3/search/jql': (request) => search(board, queryOf(request)),
    'GET /rest/api/3/myself': () => ({ status: 200, body: userBody(board, board.account) }),
    'GET /rest/api/3/mypermissions': ({ query }) => ({
      status: 200,
      body: {
        permissions: Object.fromEntries(
          (query.get('permissions') ?? '')
            .split(',')
            .map((key, id) => [key, { id: String(id), key, name: key, type: 'PROJECT', description: '', havePermission: true }]),
        ),
      },
    }),
    'GET /rest/api/3/project/:key/statuses': (_request, { key = '' }) => projectStatuses(board, key),
    [`GET ${issue}`]: ofIssue(board, (found, { query }) => ({
      status: 200,
      body: issueBody(board, found, fieldsAsked(query) ?? ['*all']),
    })),
    [`PUT ${issue}`]: ofIssue(board, (found, request) => edit(board.site, found, request)),
    [`GET ${issue}/comment`]: ofIssue(board, (found, request) => comments(board, found, request)),
    [`POST ${issue}/comment`]: ofIssue(board, (found, request) => comment(board, found, request)),
    [`GET ${issue}/transitions`]: ofIssue(board, (found) => ({
      status: 200,
      body: { expand: 'transitions', transitions: transitionsOf(board.site, found).map((one) => transitionBody(board, one)) },
    })),
    [`POST ${issue}/transitions`]: ofIssue(board, (found, request) => move(board.site, found, request)),
  };
}

function ofIssue({ site }: Board, handle: (issue: SiteIssue, request: RecordedRequest) => Answer): Route {
  return (request, { id = '' }) => {
    const issue = findIssue(site, id);
    return issue ? handle(issue, request) : noSuchIssue();
  };
}

// Both a comma-separated list and a repeated parameter are understood. Nothing asked for gives ids alone.
function fieldsAsked(query: URLSearchParams): readonly string[] | undefined {
  return query.has('fields') ? query.getAll('fields').flatMap((list) => list.split(',')) : undefined;
}

// The same question in a body.
function queryOf(request: RecordedRequest): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.json() as Record<string, unknown>)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) query.append(name, String(one));
  }
  return query;
}

function search(board: Board, query: URLSearchParams): Answer {
  const { site } = board;
  try {
    const { matches, compare } = parseJql(site, query.get('jql') ?? '');
    const reconciled = new Set(query.getAll('reconcileIssues').flatMap((list) => list.split(',')));
    if (reconciled.size > 50) return failure(400, ['reconcileIssues accepts at most 50 ids.']);
    const visible = [...site.index.values()].map((old) => (reconciled.has(old.id) ? site.issues.get(old.id) : old) ?? old);
    const found = visible.filter((issue) => site.issues.has(issue.id) && matches(issue)).toSorted(compare);
    return searchPage(board, query, found);
  } catch (error) {
    if (error instanceof JqlFault) return failure(400, [error.message]);
    throw error;
  }
}

// The last page has no token at all. A token is good for the very query it was given for.
function searchPage(board: Board, query: URLSearchParams, found: readonly SiteIssue[]): Answer {
  const fields = fieldsAsked(query);
  const size = Math.min(Number(query.get('maxResults') ?? 50), board.maxPageSize);
  const asked = JSON.stringify([query.get('jql'), query.getAll('fields'), query.getAll('reconcileIssues')]);
  const from = offsetOf(query.get('nextPageToken'), asked);
  if (from === undefined) return failure(400, ['The provided next page token is invalid or expired.']);
  const to = from + size;
  const issues = found.slice(from, to).map((issue) => (fields ? issueBody(board, issue, fields) : { id: issue.id }));
  if (to >= found.length) return { status: 200, body: { issues, isLast: true } };
  const nextPageToken = Buffer.from(JSON.stringify([to, asked])).toString('base64url');
  return { status: 200, body: { issues, nextPageToken, isLast: false } };
}

function offsetOf(token: string | null, asked: string): number | undefined {
  if (token === null) return 0;
  try {
    const [offset, of] = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as [number, string];
    return of === asked ? offset : undefined;
  } catch {
    return undefined;
  }
}

function comments(board: Board, issue: SiteIssue, { query }: RecordedRequest): Answer {
  const orderBy = query.get('orderBy') ?? 'created';
  if (!['created', '+created', '-created'].includes(orderBy)) return failure(400, ['orderBy can only be created.']);
  const sorted = issue.comments.toSorted((a, b) => Date.parse(a.created) - Date.parse(b.created));
  if (orderBy === '-created') sorted.reverse();
  const startAt = Number(query.get('startAt') ?? 0);
  const maxResults = Math.min(Number(query.get('maxResults') ?? 100), board.maxCommentPage);
  const page = sorted.slice(startAt, startAt + maxResults).map((one) => commentBody(board, issue, one));
  return { status: 200, body: { startAt, maxResults, total: sorted.length, comments: page } };
}

function comment(board: Board, issue: SiteIssue, request: RecordedRequest): Answer {
  const { body } = request.json() as { body?: DocumentNode };
  const fault = documentFault(body);
  if (fault) return failure(400, [], { comment: fault });
  const added = addComment(board.site, issue, { author: board.account, body });
  return { status: 201, body: commentBody(board, issue, added) };
}

interface DocumentNode {
  readonly type?: string;
  readonly version?: number;
  readonly text?: string;
  readonly content?: readonly DocumentNode[];
}

/** The two kinds of block that plain comments are made of, and what may stand in them. */
function documentFault(document: DocumentNode | undefined): string | undefined {
  if (document?.type !== 'doc' || document.version !== 1 || !Array.isArray(document.content)) return 'Comment body is not valid!';
  const blocks: readonly DocumentNode[] = document.content;
  const texts = blocks.flatMap((block) => block.content ?? []);
  const plain = blocks.every(({ type }) => type === 'paragraph' || type === 'codeBlock');
  if (!plain || texts.some(({ type, text }) => type !== 'text' || !text)) return 'Comment body is not valid!';
  return texts.some(({ text }) => text?.trim()) ? undefined : 'Comment body can not be empty!';
}

function move(site: Site, issue: SiteIssue, request: RecordedRequest): Answer {
  const { transition, fields = {} } = request.json() as { transition?: { id?: string }; fields?: Record<string, unknown> };
  const chosen = transitionsOf(site, issue).find(({ id }) => id === transition?.id);
  if (!chosen) return failure(400, [`Transition id '${transition?.id ?? ''}' is not valid for this issue.`]);
  const unmet = Object.entries(site.demands.get(chosen.to) ?? {}).filter(([field]) => !(field in fields));
  if (unmet.length > 0) return failure(400, [], Object.fromEntries(unmet));
  editIssue(site, issue, { status: chosen.to });
  return { status: 204 };
}

type LabelVerb = Readonly<Partial<Record<'add' | 'remove', string>>>;

/** Labels differ by case; one that is there already, or is not there, is no fault. */
function edit(site: Site, issue: SiteIssue, request: RecordedRequest): Answer {
  const { update, fields } = request.json() as { update?: { labels?: readonly LabelVerb[] }; fields?: { summary?: string } };
  const labels = new Set(issue.labels);
  for (const { add, remove } of update?.labels ?? []) {
    if (add !== undefined && /\s/.test(add))
      return failure(400, [], { labels: `The label '${add}' contains spaces which is invalid.` });
    if (add !== undefined) labels.add(add);
    if (remove !== undefined) labels.delete(remove);
  }
  editIssue(site, issue, { labels: [...labels], ...(fields?.summary === undefined ? {} : { summary: fields.summary }) });
  return { status: 204 };
}

/** The statuses of each type of issue, with the three categories there are. */
function projectStatuses(board: Board, key: string): Answer {
  if (key.toLowerCase() !== board.site.project.toLowerCase())
    return failure(404, [`No project could be found with key '${key}'.`]);
  const category = (index: number): string =>
    index === 0 ? 'new' : index === board.site.statuses.length - 1 ? 'done' : 'indeterminate';
  const statuses = board.site.statuses.map((name, index) => ({
    id: String(10_000 + index),
    name,
    statusCategory: { key: category(index) },
  }));
  return {
    status: 200,
    body: [{ self: `${board.base()}/rest/api/3/issueType/10001`, id: '10001', name: 'Task', subtask: false, statuses }],
  };
}
