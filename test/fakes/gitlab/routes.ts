import type { Handler, RecordedRequest, Reply, RouteHandler } from '../../support/http-server.ts';
import { json, router } from '../../support/http-server.ts';
import { answers, bodyOf, listOf, page } from './answer.ts';
import { issueEntity, issueLabelEventEntity, labelEntity, noteEntity, projectEntity } from './wire.ts';
import { selectIssues } from './issue-list.ts';
import { mergeRoutes } from './merge-routes.ts';
import type { MergeWorld } from './merge-store.ts';
import { pipelineRoutes } from './pipeline-routes.ts';
import { readComment } from './quick-actions.ts';
import type { FakeIssue, World } from './store.ts';
import { addNote, changeIssue, createIssue, ensureLabel } from './store.ts';

export interface RouteContext {
  readonly world: World;
  readonly merges: MergeWorld;
  /** Where the instance is reached; known once it listens. */
  origin(): string;
  readonly maxPerPage: number;
  /** Null: a server without the route. */
  readonly token: Readonly<Record<string, unknown>> | null;
}

/** The routes below `/api/v4`, for a caller that has been let in. */
export function apiRoutes(context: RouteContext): Handler {
  const inside = (handle: RouteHandler): RouteHandler => inProject(context, handle);
  const routes = router({
    ...mergeRoutes(context, inside),
    ...pipelineRoutes(context, inside),
    'GET /api/v4/personal_access_tokens/self': () => (context.token ? json(context.token) : answers.routeMiss()),
    'GET /api/v4/projects/:project': inProject(context, () =>
      json({ ...projectEntity(context.origin(), context.world.project), merge_trains_enabled: context.merges.hasTrains }),
    ),
    'GET /api/v4/projects/:project/labels': inProject(context, (request) => listLabels(context, request)),
    'POST /api/v4/projects/:project/labels': inProject(context, (request) => createLabel(context, request)),
    'GET /api/v4/projects/:project/issues': inProject(context, (request) => listIssues(context, request)),
    'POST /api/v4/projects/:project/issues': inProject(context, (request) => postIssue(context, request)),
    'GET /api/v4/projects/:project/issues/:iid': onIssue(context, (_, issue) => shown(context, issue)),
    'PUT /api/v4/projects/:project/issues/:iid': onIssue(context, (request, issue) => putIssue(context, request, issue)),
    'GET /api/v4/projects/:project/issues/:iid/resource_label_events': onIssue(context, (request, issue) =>
      page(request, issue.labelEvents, {
        maxPerPage: context.maxPerPage,
        show: (event) => issueLabelEventEntity(context.origin(), issue, event),
      }),
    ),
    'GET /api/v4/projects/:project/issues/:iid/notes': onIssue(context, (request, issue) => listNotes(context, request, issue)),
    'POST /api/v4/projects/:project/issues/:iid/notes': onIssue(context, (request, issue) => postNote(context, request, issue)),
  });
  return async (request) => (await routes(request)) ?? answers.routeMiss();
}

// A project the caller may not see is answered like one that does not exist.
function inProject({ world }: RouteContext, handle: RouteHandler): RouteHandler {
  return (request, params) => {
    const { project } = world;
    if (params['project'] !== String(project.id) && params['project']?.toLowerCase() !== project.path.toLowerCase()) {
      return answers.projectMiss();
    }
    if (project.archived && request.method !== 'GET') return answers.forbidden();
    return handle(request, params);
  };
}

function onIssue(context: RouteContext, handle: (request: RecordedRequest, issue: FakeIssue) => Reply): RouteHandler {
  return inProject(context, (request, { iid = '' }) => {
    if (!/^\d+$/.test(iid)) return answers.badParameter('issue_iid is invalid');
    const issue = context.world.issues.get(Number(iid));
    return issue ? handle(request, issue) : answers.resourceMiss();
  });
}

function shown({ origin, world }: RouteContext, issue: FakeIssue, status = 200): Reply {
  return json(issueEntity(origin(), world.project, issue), status);
}

function listIssues({ world, origin, maxPerPage }: RouteContext, request: RecordedRequest): Reply {
  const selected = selectIssues(world, request);
  if (typeof selected === 'function') return selected;
  return page(request, selected, { maxPerPage, show: (issue) => issueEntity(origin(), world.project, issue) });
}

function postIssue(context: RouteContext, request: RecordedRequest): Reply {
  const { title, description, labels, issue_type } = bodyOf(request);
  if (title === undefined) return answers.badParameter('title is missing');
  if (String(title).trim() === '') return answers.modelErrors({ title: ["can't be blank"] });
  const issue = createIssue(context.world, {
    title: String(title),
    description: description === undefined ? null : String(description),
    labels: [...(listOf(labels) ?? [])],
    ...(issue_type === undefined ? {} : { issueType: String(issue_type) }),
  });
  return shown(context, issue, 201);
}

const EDITABLE = ['title', 'description', 'state_event', 'labels', 'add_labels', 'remove_labels', 'confidential'];

// There is no concurrency control: every update works on what is stored at that moment.
function putIssue(context: RouteContext, request: RecordedRequest, issue: FakeIssue): Reply {
  const body = bodyOf(request);
  if (!EDITABLE.some((key) => key in body)) {
    return answers.badParameter(`${EDITABLE.join(', ')} are missing, at least one parameter must be provided`);
  }
  const { state_event: event, title, description } = body;
  if (event !== undefined && event !== 'close' && event !== 'reopen') {
    return answers.badParameter('state_event does not have a valid value');
  }
  const labels = listOf(body['labels']);
  changeIssue(context.world, issue, {
    ...(title === undefined ? {} : { title: String(title) }),
    ...(description === undefined ? {} : { description: String(description) }),
    ...(event === undefined ? {} : { state: event === 'close' ? 'closed' : 'opened' }),
    ...(labels === undefined ? {} : { labels: [...labels] }),
    addLabels: listOf(body['add_labels']),
    removeLabels: listOf(body['remove_labels']),
  });
  return shown(context, issue);
}

function listNotes({ origin, maxPerPage }: RouteContext, request: RecordedRequest, issue: FakeIssue): Reply {
  const kind = request.query.get('activity_filter') ?? 'all_notes';
  if (!['all_notes', 'only_comments', 'only_activity'].includes(kind)) {
    return answers.badParameter('activity_filter does not have a valid value');
  }
  const wanted = issue.notes.filter(({ system }) => kind === 'all_notes' || system === (kind === 'only_activity'));
  // Newest first unless asked otherwise.
  const ordered = request.query.get('sort') === 'asc' ? wanted : wanted.toReversed();
  return page(request, ordered, { maxPerPage, show: (note) => noteEntity(origin(), issue, note) });
}

function postNote({ world, origin }: RouteContext, request: RecordedRequest, issue: FakeIssue): Reply {
  const { body } = bodyOf(request);
  if (body === undefined) return answers.badParameter('body is missing');
  if (String(body).trim() === '') return answers.badRequest('Note {:note=>["can\'t be blank"]}');
  const { text, change, commands } = readComment(String(body), issue);
  if (change) changeIssue(world, issue, change);
  if (text === '') return json({ commands_changes: commands, summary: ['Applied the commands.'] }, 202);
  const note = addNote(world, issue, { body: text, author: 'foray-bot' });
  return json(noteEntity(origin(), issue, note, commands), 201);
}

function listLabels({ world, maxPerPage }: RouteContext, request: RecordedRequest): Reply {
  const byName = world.labels.toSorted((a, b) => a.name.localeCompare(b.name));
  return page(request, byName, { maxPerPage, show: (label) => labelEntity(label, world.labels.indexOf(label) + 1) });
}

function createLabel({ world }: RouteContext, request: RecordedRequest): Reply {
  const { name, color } = bodyOf(request);
  if (name === undefined || color === undefined) return answers.badParameter('name, color are missing');
  if (String(name).includes(',')) return answers.modelErrors({ title: ['is invalid'] });
  if (world.labels.some((label) => label.name === name)) return answers.conflict('Label already exists');
  ensureLabel(world, String(name));
  return json(labelEntity({ name: String(name), isProjectLabel: true }, world.labels.length), 201);
}
