// What GitLab publishes of the routes that are used here, as a table of facts. Routes and query parameters are those of its
// OpenAPI description (`doc/api/openapi/openapi_v3.yaml`, version 19.5) or, for tokens, approvals, branches, users and logs, of
// the source that it is made from (`lib/api`). The description calls most fields of a body or an answer plain text, so these are
// those of its pages (docs.gitlab.com/api/<page>), which `page` names, and of `lib/api/entities`.

import type { FieldType } from './entities.ts';
import {
  BRANCH,
  COMMIT_STATUS,
  entity,
  ISSUE,
  LABEL,
  LABEL_EVENT,
  listOf,
  MERGE_REQUEST,
  MERGE_REQUEST_BASIC,
  NOTE,
  orNull,
  PIPELINE,
  USER,
} from './entities.ts';

export interface Route {
  /** The page that tells of the body and the answer. */
  readonly page: string;
  /** Every query parameter there is; one whose name ends in `[]` may be repeated. */
  readonly query?: Readonly<Record<string, FieldType>>;
  readonly body?: Readonly<Record<string, FieldType>>;
  readonly required?: readonly string[];
  readonly status: number;
  /** Null: nothing is said of it, or it is no JSON. */
  readonly answer: FieldType | null;
}

const PAGES = { page: 'number', per_page: 'number' } as const;
const SORT = ['asc', 'desc'];

const ISSUE_ORDERS =
  'created_at due_date label_priority milestone_due popularity priority relative_position title updated_at weight'.split(' ');

const ISSUE_FILTERS = {
  labels: 'text',
  'labels[]': 'text',
  milestone: 'text',
  milestone_id: 'text',
  'iids[]': 'number',
  author_id: 'number',
  author_username: 'text',
  assignee_id: 'text',
  assignee_username: 'text',
  'assignee_username[]': 'text',
} as const satisfies Record<string, FieldType>;

const NOTES_QUERY = {
  order_by: ['created_at', 'updated_at'],
  sort: SORT,
  activity_filter: ['all_notes', 'only_comments', 'only_activity'],
  ...PAGES,
};

/** By method and path below `/api/v4`. */
export const ROUTES: Readonly<Record<string, Route>> = {
  'GET /personal_access_tokens/self': {
    page: 'personal_access_tokens',
    status: 200,
    answer: entity({
      id: 'number',
      name: 'text',
      revoked: 'flag',
      created_at: 'text',
      scopes: listOf('text'),
      user_id: 'number',
      active: 'flag',
      expires_at: 'text?',
    }),
  },
  'GET /user': { page: 'users', status: 200, answer: USER },
  'GET /users/{id}': { page: 'users', status: 200, answer: entity({ ...USER.fields, bot: 'flag' }) },
  'GET /projects/{id}': {
    page: 'projects',
    query: { statistics: 'flag', with_custom_attributes: 'flag', license: 'flag' },
    status: 200,
    answer: entity({
      id: 'number',
      path_with_namespace: 'text',
      default_branch: 'text?',
      visibility: ['private', 'internal', 'public'],
      archived: 'flag',
      issues_access_level: ['disabled', 'private', 'enabled'],
    }),
  },
  'GET /projects/{id}/members/all/{user_id}': {
    page: 'project_members',
    status: 200,
    answer: entity({ id: 'number', username: 'text', access_level: 'number' }),
  },
  'GET /projects/{id}/labels': {
    page: 'labels',
    query: { with_counts: 'flag', include_ancestor_groups: 'flag', search: 'text', archived: 'flag', ...PAGES },
    status: 200,
    answer: listOf(LABEL),
  },
  'POST /projects/{id}/labels': {
    page: 'labels',
    body: { name: 'text', color: 'text', description: 'text', priority: 'number?' },
    required: ['name', 'color'],
    status: 201,
    answer: LABEL,
  },
  'GET /projects/{id}/issues': {
    page: 'issues',
    query: {
      state: ['opened', 'closed', 'all'],
      order_by: ISSUE_ORDERS,
      sort: SORT,
      issue_type: ['issue', 'incident', 'test_case', 'requirement', 'task', 'ticket'],
      scope: ['created_by_me', 'assigned_to_me', 'all'],
      due_date: ['0', 'any', 'today', 'tomorrow', 'overdue', 'week', 'month', 'next_month_and_previous_two_weeks', ''],
      search: 'text',
      in: 'text',
      my_reaction_emoji: 'text',
      confidential: 'flag',
      with_labels_details: 'flag',
      created_after: 'text',
      created_before: 'text',
      updated_after: 'text',
      updated_before: 'text',
      ...ISSUE_FILTERS,
      ...Object.fromEntries(Object.entries(ISSUE_FILTERS).map(([name, type]) => [negated(name), type])),
      ...PAGES,
    },
    status: 200,
    answer: listOf(ISSUE),
  },
  'GET /projects/{id}/issues/{issue_iid}': { page: 'issues', status: 200, answer: ISSUE },
  'PUT /projects/{id}/issues/{issue_iid}': {
    page: 'issues',
    body: { state_event: ['close', 'reopen'], labels: 'text', add_labels: 'text', remove_labels: 'text', title: 'text' },
    status: 200,
    answer: ISSUE,
  },
  'GET /projects/{id}/issues/{noteable_id}/notes': { page: 'notes', query: NOTES_QUERY, status: 200, answer: listOf(NOTE) },
  'POST /projects/{id}/issues/{noteable_id}/notes': {
    page: 'notes',
    body: { body: 'text', internal: 'flag', created_at: 'text' },
    required: ['body'],
    status: 201,
    answer: NOTE,
  },
  'GET /projects/{id}/issues/{eventable_id}/resource_label_events': {
    page: 'resource_label_events',
    query: PAGES,
    status: 200,
    answer: listOf(LABEL_EVENT),
  },
  'GET /projects/{id}/merge_requests': {
    page: 'merge_requests',
    query: {
      state: ['opened', 'closed', 'locked', 'merged', 'all'],
      source_branch: 'text',
      target_branch: 'text',
      ...PAGES,
    },
    status: 200,
    answer: listOf(MERGE_REQUEST_BASIC),
  },
  'POST /projects/{id}/merge_requests': {
    page: 'merge_requests',
    body: { source_branch: 'text', target_branch: 'text', title: 'text', description: 'text' },
    required: ['source_branch', 'target_branch', 'title'],
    status: 201,
    answer: MERGE_REQUEST,
  },
  'GET /projects/{id}/merge_requests/{merge_request_iid}': { page: 'merge_requests', status: 200, answer: MERGE_REQUEST },
  'PUT /projects/{id}/merge_requests/{merge_request_iid}': {
    page: 'merge_requests',
    body: { state_event: ['close', 'reopen'], labels: 'text', add_labels: 'text', remove_labels: 'text', title: 'text' },
    status: 200,
    answer: MERGE_REQUEST,
  },
  'PUT /projects/{id}/merge_requests/{merge_request_iid}/merge': {
    page: 'merge_requests',
    body: { sha: 'text', squash: 'flag', auto_merge: 'flag', should_remove_source_branch: 'flag', merge_commit_message: 'text' },
    status: 200,
    answer: MERGE_REQUEST,
  },
  // Pages are not described for this list: the contract asks for them, and the server ignores what it does not know.
  'GET /projects/{id}/merge_requests/{merge_request_iid}/reviewers': {
    page: 'merge_requests',
    query: PAGES,
    status: 200,
    answer: listOf(entity({ user: USER, state: 'text', created_at: 'text' })),
  },
  'GET /projects/{id}/merge_requests/{merge_request_iid}/approvals': {
    page: 'merge_request_approvals',
    status: 200,
    answer: entity({
      user_has_approved: 'flag',
      user_can_approve: 'flag',
      approved: 'flag',
      approved_by: listOf(entity({ user: USER })),
    }),
  },
  'GET /projects/{id}/merge_requests/{noteable_id}/notes': {
    page: 'notes',
    query: NOTES_QUERY,
    status: 200,
    answer: listOf(NOTE),
  },
  'GET /projects/{id}/merge_requests/{eventable_id}/resource_label_events': {
    page: 'resource_label_events',
    query: PAGES,
    status: 200,
    answer: listOf(LABEL_EVENT),
  },
  'GET /projects/{id}/merge_trains/merge_requests/{merge_request_iid}': {
    page: 'merge_trains',
    status: 200,
    answer: entity({ id: 'number', status: 'text', target_branch: 'text', pipeline: orNull(PIPELINE), user: USER }),
  },
  'POST /projects/{id}/merge_trains/merge_requests/{merge_request_iid}': {
    page: 'merge_trains',
    body: { sha: 'text', squash: 'flag', auto_merge: 'flag', when_pipeline_succeeds: 'flag' },
    status: 201,
    answer: null,
  },
  'GET /projects/{id}/repository/commits/{sha}': {
    page: 'commits',
    query: { stats: 'flag' },
    status: 200,
    answer: entity({ id: 'text', short_id: 'text', title: 'text', status: 'text?', last_pipeline: orNull(PIPELINE) }),
  },
  'GET /projects/{id}/repository/commits/{sha}/statuses': {
    page: 'commits',
    query: {
      ref: 'text',
      stage: 'text',
      name: 'text',
      pipeline_id: 'number',
      all: 'flag',
      order_by: ['id', 'pipeline_id'],
      sort: SORT,
      ...PAGES,
    },
    status: 200,
    answer: listOf(COMMIT_STATUS),
  },
  'GET /projects/{id}/jobs/{job_id}/trace': { page: 'jobs', status: 200, answer: null },
  'GET /projects/{id}/repository/branches/{branch}': { page: 'branches', status: 200, answer: BRANCH },
  'DELETE /projects/{id}/repository/branches/{branch}': { page: 'branches', status: 204, answer: null },
};

function negated(name: string): string {
  return name.endsWith('[]') ? `not[${name.slice(0, -2)}][]` : `not[${name}]`;
}
