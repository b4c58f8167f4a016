import type { RecordedRequest } from '../../support/http-server.ts';
import type { Answer, Instance, Routes } from './answer.ts';
import { failure, notFound, ofIssue, ok, page, slice, write } from './answer.ts';
import type { FakeIssue, Store } from './store.ts';
import { addComment, addIssue, editIssue, hasOpenDependencies, labelsOf } from './store.ts';
import { commentBody, foreignBody, issueBody } from './wire.ts';

export function issueRoutes(instance: Instance): Routes {
  const { store, base } = instance;
  const shown = (issue: FakeIssue) => issueBody(store, issue, base());
  const comment = (issue: FakeIssue) => (one: FakeIssue['comments'][number]) => commentBody(store, issue, one, base());
  return {
    'GET /issues': (request) => page(instance, request, matching(store, request).map(shown)),
    'POST /issues': write(instance, (request) => {
      const { title, body } = request.json() as { title?: string; body?: string };
      return title ? ok(shown(addIssue(store, { title, body })), 201) : failure(instance, 422, '[]: Required');
    }),
    'GET /issues/:index': ofIssue(instance, (issue) => ok(shown(issue))),
    'PATCH /issues/:index': write(
      instance,
      ofIssue(instance, (issue, request) => {
        const edit = request.json() as { title?: string; body?: string; ref?: string; state?: string };
        const { state } = edit;
        if (state !== undefined && state !== 'open' && state !== 'closed')
          return failure(instance, 412, `unknown state: ${state}`);
        if (state === 'closed' && issue.state === 'open' && hasOpenDependencies(store, issue)) {
          return failure(instance, 412, 'cannot close this issue or pull request because it still has open dependencies');
        }
        editIssue(store, issue, { ...edit, state: state ?? issue.state });
        return ok(shown(issue), 201);
      }),
    ),
    // All of them at once, oldest first, and without the system's own entries.
    'GET /issues/:index/comments': ofIssue(instance, (issue) => ({
      ...ok(issue.comments.map(comment(issue))),
      headers: { 'x-total-count': String(issue.comments.length) },
    })),
    'POST /issues/:index/comments': write(
      instance,
      ofIssue(instance, (issue, request) => {
        const { body } = request.json() as { body?: string };
        if (!body) return failure(instance, 422, '[Body]: Required');
        return ok(comment(issue)(addComment(store, issue, { author: instance.login, body })), 201);
      }),
    ),
    'GET /issues/:index/dependencies': ofIssue(instance, (issue, request) =>
      instance.dependenciesEnabled ? dependencyPage(instance, request, issue) : notFound(instance),
    ),
    'POST /issues/:index/dependencies': ofIssue(instance, (issue, request) => {
      const form = request.json() as { index?: number; owner?: string; repo?: string };
      const blocker = form.owner === store.owner && form.repo === store.repo ? store.issues.get(form.index ?? 0) : undefined;
      if (!blocker) return notFound(instance);
      issue.dependencies.push(blocker.number);
      return ok(shown(issue), 201);
    }),
  };
}

// Newest first, whatever order is asked for; a key that is not known is ignored.
function matching(store: Store, { query }: RecordedRequest): readonly FakeIssue[] {
  const state = query.get('state') ?? 'open';
  const type = query.get('type');
  const wanted = filterLabelIds(store, query.get('labels'));
  const words = query.get('q')?.toLowerCase() ?? '';
  const author = query.get('created_by');
  const assignee = query.get('assigned_by');
  return [...store.issues.values()]
    .filter((issue) => state === 'all' || issue.state === state)
    .filter((issue) => !type || issue.isPull === (type === 'pulls'))
    .filter((issue) => wanted.every((id) => issue.labelIds.has(id)))
    .filter((issue) => `${issue.title} ${issue.body}`.toLowerCase().includes(words))
    .filter((issue) => !author || issue.author === author)
    .filter((issue) => !assignee || issue.assignees.includes(assignee))
    .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt) || b.number - a.number);
}

// By exact name among the repository's own labels. One name that is not found drops the whole filter, silently.
function filterLabelIds(store: Store, names: string | null): readonly number[] {
  if (!names) return [];
  const found = names.split(',').map((name) => store.labels.find((label) => !label.ofOrganization && label.name === name));
  return found.every((label) => label !== undefined) ? found.map(({ id }) => id) : [];
}

function dependencyPage(instance: Instance, request: RecordedRequest, issue: FakeIssue): Answer {
  const all = dependencies(instance, issue);
  return instance.bareDependencies ? ok(slice(instance, request, all).items) : page(instance, request, all);
}

function dependencies({ store, base }: Instance, issue: FakeIssue): readonly unknown[] {
  return issue.dependencies.map((one) => {
    if (typeof one !== 'number') return foreignBody(one, base());
    const blocker = store.issues.get(one);
    if (!blocker) throw new Error(`issue ${issue.number} depends on ${one}, which is not there`);
    return issueBody(store, blocker, base());
  });
}

/** What a test looks at after the fact. */
export function viewOf(store: Store, issue: FakeIssue) {
  return {
    ...issue,
    labels: labelsOf(store, issue).map(({ name }) => name),
    comments: issue.comments.map(({ body }) => body),
  };
}
