import type { RecordedRequest, Reply } from '../../support/http-server.ts';
import { answers, listOf } from './answer.ts';
import type { FakeIssue, World } from './store.ts';

/** Parameters with a closed set of values. A wrong value is refused; a parameter nobody knows is ignored without a word. */
const CLOSED_SETS: Readonly<Record<string, readonly string[]>> = {
  state: ['opened', 'closed', 'all'],
  issue_type: ['issue', 'incident', 'test_case', 'task'],
  scope: ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'],
  order_by: ['created_at', 'due_date', 'label_priority', 'milestone_due', 'popularity', 'priority', 'title', 'updated_at'],
  sort: ['asc', 'desc'],
};

/** The issues a list request asks for, in its order, or the refusal of a bad parameter. */
export function selectIssues(world: World, { query }: RecordedRequest): readonly FakeIssue[] | Reply {
  for (const [key, values] of Object.entries(CLOSED_SETS)) {
    const value = query.get(key);
    if (value !== null && !values.includes(value)) return answers.badParameter(`${key} does not have a valid value`);
  }
  const iids = query.getAll('iids[]');
  if (query.has('iids') || iids.some((iid) => !/^\d+$/.test(iid))) return answers.badParameter('iids is invalid');
  // The community edition takes one assignee.
  if (query.getAll('assignee_username').join(',').includes(',')) {
    return answers.badParameter('allows one value, but found 2: assignee_username');
  }
  const found = [...world.issues.values()].filter((issue) => FILTERS.every((filter) => filter(issue, query)));
  return sorted(found, query);
}

type Filter = (issue: FakeIssue, query: URLSearchParams) => boolean;

const FILTERS: readonly Filter[] = [
  ({ state }, query) => ['all', state].includes(query.get('state') ?? 'all'),
  ({ issueType }, query) => (query.get('issue_type') ?? issueType) === issueType,
  ({ iid }, query) => !query.has('iids[]') || query.getAll('iids[]').map(Number).includes(iid),
  ({ labels }, query) => named(query, 'labels').every((name) => hasLabel(labels, name)),
  ({ labels }, query) => !named(query, 'not[labels]').some((name) => labels.includes(name)),
  ({ assignees }, query) => named(query, 'assignee_username').every((name) => assignees.includes(name)),
  ({ author }, query) => (query.get('author_username') ?? author) === author,
  ({ milestone }, query) => (query.get('milestone') ?? milestone) === milestone,
  ({ confidential }, query) => (query.get('confidential') ?? String(confidential)) === String(confidential),
  ({ title, description }, query) =>
    `${title}\n${description ?? ''}`.toLowerCase().includes((query.get('search') ?? '').toLowerCase()),
  ({ createdAt }, query) => createdAt >= (query.get('created_after') ?? ''),
];

function named(query: URLSearchParams, key: string): readonly string[] {
  return [...query.getAll(key), ...query.getAll(`${key}[]`)].flatMap((value) => listOf(value) ?? []);
}

function hasLabel(labels: readonly string[], name: string): boolean {
  if (name.toLowerCase() === 'none') return labels.length === 0;
  if (name.toLowerCase() === 'any') return labels.length > 0;
  return labels.includes(name);
}

// Newest first unless asked otherwise.
function sorted(issues: readonly FakeIssue[], query: URLSearchParams): readonly FakeIssue[] {
  const key = query.get('order_by') === 'updated_at' ? 'updatedAt' : 'createdAt';
  const direction = query.get('sort') === 'asc' ? 1 : -1;
  return [...issues].sort((a, b) => direction * (a[key].localeCompare(b[key]) || a.iid - b.iid));
}
