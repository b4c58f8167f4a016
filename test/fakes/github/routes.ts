import type { RecordedRequest } from '../../support/http-server.ts';
import {
  type Answer,
  type Call,
  NOT_FOUND,
  paged,
  pageOf,
  refusal,
  type RouteContext,
  type RouteTable,
  write,
} from './answer.ts';
import { PULL_ROUTES } from './pull-routes.ts';
import { searchIssues } from './search.ts';
import type { FakeIssue, FakeRepo, IssuePlace } from './store.ts';
import { wireFullRepo } from './repo-wire.ts';
import { wireComment, wireIssue, wireLabel, wireOwnAccount } from './wire.ts';

/** Answers one request below the API's base path. */
export function route(context: RouteContext, request: RecordedRequest, path: string): Answer {
  if (path === '/search/issues' && request.method === 'GET') return search(context, request);
  if (path === '/user' && request.method === 'GET') return { status: 200, body: wireOwnAccount(context, 'foray-bot') };
  const place = repoPlace(context, path);
  if (!place) return NOT_FOUND;
  for (const [line, handle] of Object.entries(REPO_ROUTES)) {
    const [method = '', pattern = ''] = line.split(' ');
    const found = method === request.method ? match(pattern, place.rest) : undefined;
    if (found) return handle({ context, request, ...place, params: found });
  }
  return NOT_FOUND;
}

// Links between pages use the numeric form of a repository.
function repoPlace({ store }: RouteContext, path: string): { repo: FakeRepo; rest: string } | undefined {
  const [, byName, nameRest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? [];
  const [, byId, idRest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const repo = byName === undefined ? store.repoById(Number(byId)) : store.repo(decodeURIComponent(byName));
  return repo && { repo, rest: byName === undefined ? idRest : nameRest };
}

function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const segments = path.split('/');
  if (wanted.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':') && segment !== '') params[part.slice(1)] = decodeURIComponent(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

interface IssueCall extends Call {
  readonly issue: FakeIssue;
}

const REPO_ROUTES: RouteTable = {
  'GET ': ({ context, repo }) => ({ status: 200, body: wireFullRepo(context, repo) }),
  ...PULL_ROUTES,
  'GET /issues': listIssues,
  'GET /labels': (call) => paged(call, [...call.repo.labels.values()], (name) => wireLabel(call.context, call.repo, name)),
  'POST /labels': (call) => {
    const { name } = call.request.json() as { name: string };
    call.repo.labels.set(name.toLowerCase(), name);
    return { status: 201, body: wireLabel(call.context, call.repo, name) };
  },
  'GET /issues/:number': onIssue(({ context, repo, issue }) => ({ status: 200, body: wireIssue(context, repo, issue) })),
  'PATCH /issues/:number': onIssue(write(updateIssue)),
  'GET /issues/:number/comments': onIssue((call) => {
    const { context, repo, issue } = call;
    return paged(call, issue.comments, (comment) => wireComment(context, repo, issue, comment));
  }),
  'POST /issues/:number/comments': onIssue(write(createComment)),
  'GET /issues/:number/labels': onIssue((call) =>
    paged(call, call.issue.labels, (name) => wireLabel(call.context, call.repo, name)),
  ),
  'POST /issues/:number/labels': onIssue(write(addLabels)),
  'DELETE /issues/:number/labels': onIssue(write(removeAllLabels)),
  'DELETE /issues/:number/labels/:name': onIssue(write(removeLabel)),
  'GET /issues/:number/dependencies/blocked_by': onIssue(listBlockers),
  'GET /issues/:number/parent': onIssue(getParent),
};

function onIssue(handle: (call: IssueCall) => Answer): (call: Call) => Answer {
  return (call) => {
    const issue = /^\d+$/.test(call.params.number ?? '') ? call.repo.issues.get(Number(call.params.number)) : undefined;
    if (!issue) return NOT_FOUND;
    if (issue.deleted) return refusal(410, 'This issue was deleted');
    if (issue.movedTo) return moved(call, issue.movedTo);
    return handle({ ...call, issue });
  };
}

function moved({ context }: Call, place: IssuePlace): Answer {
  const target = context.store.find(place);
  if (!target) return NOT_FOUND;
  const url = `${context.api}/repositories/${target.repo.id}/issues/${target.issue.number}`;
  return { status: 301, body: { message: 'Moved Permanently', url }, headers: { location: url } };
}

// Pull requests are issues to this list, as they are to the real one.
function listIssues(call: Call): Answer {
  const { context, repo, request } = call;
  const state = request.query.get('state') ?? 'open';
  const direction = request.query.get('direction') === 'asc' ? 1 : -1;
  const listed = [...repo.issues.values()]
    .filter((issue) => !issue.deleted && !issue.movedTo && (state === 'all' || issue.state === state))
    .sort((a, b) => direction * a.createdAt.localeCompare(b.createdAt));
  return paged(call, listed, (issue) => wireIssue(context, repo, issue));
}

function updateIssue({ context, request, repo, issue }: IssueCall): Answer {
  const { state, state_reason: reason, title } = request.json() as { state?: string; state_reason?: string; title?: string };
  if (state !== undefined && state !== 'open' && state !== 'closed') {
    return refusal(422, 'Validation Failed', { errors: [{ resource: 'Issue', field: 'state', code: 'invalid', value: state }] });
  }
  if (title !== undefined) issue.title = title;
  if (state !== undefined && state !== issue.state) {
    issue.state = state;
    issue.stateReason = state === 'closed' ? (reason ?? 'completed') : 'reopened';
    issue.closedAt = state === 'closed' ? context.store.tick() : null;
  }
  issue.updatedAt = context.store.tick();
  return { status: 200, body: wireIssue(context, repo, issue) };
}

function createComment({ context, request, repo, issue }: IssueCall): Answer {
  const { body } = request.json() as { body?: unknown };
  if (issue.locked) return refusal(403, 'Unable to create comment because issue is locked.');
  if (typeof body !== 'string' || body.trim() === '' || body.length > 65_536) {
    const code = typeof body === 'string' && body.length > 65_536 ? 'invalid' : 'missing_field';
    return refusal(422, 'Validation Failed', { errors: [{ resource: 'IssueComment', field: 'body', code }] });
  }
  const comment = context.store.addComment(issue, { author: 'foray-bot', body });
  return { status: 201, body: wireComment(context, repo, issue, comment) };
}

// Names match ignoring case, and the spelling of the repository is what the issue then carries.
function addLabels({ context, request, repo, issue }: IssueCall): Answer {
  const sent = request.json() as { labels?: unknown } | unknown[];
  const names = (Array.isArray(sent) ? sent : Array.isArray(sent.labels) ? sent.labels : []).map(String);
  const bad = names.find(
    (name) => name !== name.trim() || name === '' || (!context.createsLabels && !repo.labels.has(name.toLowerCase())),
  );
  if (bad !== undefined || names.length === 0) {
    return refusal(422, 'Validation Failed', {
      errors: [{ value: bad ?? null, resource: 'Label', field: 'name', code: 'invalid' }],
    });
  }
  for (const name of names) {
    context.store.label(repo, issue, name);
  }
  issue.updatedAt = context.store.tick();
  return labelsOf({ context, repo, issue });
}

function removeLabel({ context, repo, issue, params }: IssueCall): Answer {
  if (!context.store.unlabel(issue, params.name ?? '')) return refusal(404, 'Label does not exist');
  return labelsOf({ context, repo, issue });
}

function removeAllLabels({ issue }: IssueCall): Answer {
  issue.labels.length = 0;
  return { status: 204 };
}

function labelsOf({ context, repo, issue }: Pick<IssueCall, 'context' | 'repo' | 'issue'>): Answer {
  return { status: 200, body: issue.labels.map((name) => wireLabel(context, repo, name)) };
}

function listBlockers(call: IssueCall): Answer {
  const { context, issue } = call;
  if (!context.dependencies) return NOT_FOUND;
  const found = issue.blockedBy.flatMap((place) => context.store.find(place) ?? []);
  return paged(call, found, (one) => wireIssue(context, one.repo, one.issue));
}

function getParent({ context, issue }: IssueCall): Answer {
  const found = issue.parent && context.dependencies ? context.store.find(issue.parent) : undefined;
  if (!found) return refusal(404, 'No parent issue found');
  return { status: 200, body: wireIssue(context, found.repo, found.issue) };
}

const SEARCH_RESULTS = 1000;

function search(context: RouteContext, request: RecordedRequest): Answer {
  const found = searchIssues(context.store, request.query.get('q') ?? '');
  if (!found) {
    const message =
      'The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.';
    return refusal(422, 'Validation Failed', { errors: [{ message, resource: 'Search', field: 'q', code: 'invalid' }] });
  }
  const direction = request.query.get('order') === 'asc' ? 1 : -1;
  const sorted = [...found].sort((a, b) => direction * a.issue.createdAt.localeCompare(b.issue.createdAt));
  const { entries, link } = pageOf({ context, request, base: `${context.api}/search/issues` }, sorted.slice(0, SEARCH_RESULTS));
  const items = entries.map(({ repo, issue }) => ({ ...wireIssue(context, repo, issue), score: 1 }));
  const body = { total_count: found.length, incomplete_results: context.incompleteResults, items, search_type: 'lexical' };
  return { status: 200, body, headers: link };
}
