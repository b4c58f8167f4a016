// What GitLab's pages (docs.gitlab.com/api) say of the objects that are read here: the fields that are there, and their types.

/** A type of a value; a list is one of these words. `?` at the end: null is sent too. */
export type FieldType = 'text' | 'text?' | 'number' | 'number?' | 'flag' | 'flag?' | readonly string[] | Entity | ListOf;
/** The fields of an object that must be there, besides any others. */
export interface Entity {
  readonly fields: Readonly<Record<string, FieldType>>;
  readonly mayBeNull?: boolean;
}
export interface ListOf {
  readonly listOf: FieldType;
}

export const entity = (fields: Entity['fields']): Entity => ({ fields });
export const orNull = ({ fields }: Entity): Entity => ({ fields, mayBeNull: true });
export const listOf = (one: FieldType): ListOf => ({ listOf: one });

export const USER = entity({ id: 'number', username: 'text', name: 'text', state: 'text', avatar_url: 'text?', web_url: 'text' });

export const ISSUE = entity({
  id: 'number',
  iid: 'number',
  project_id: 'number',
  title: 'text',
  description: 'text?',
  state: ['opened', 'closed'],
  created_at: 'text',
  updated_at: 'text',
  labels: listOf('text'),
  assignees: listOf(USER),
  assignee: orNull(USER),
  author: USER,
  type: ['ISSUE', 'INCIDENT', 'TEST_CASE', 'REQUIREMENT', 'TASK', 'TICKET'],
  issue_type: ['issue', 'incident', 'test_case', 'requirement', 'task', 'ticket'],
  web_url: 'text',
  references: entity({ short: 'text', relative: 'text', full: 'text' }),
});

export const NOTE = entity({
  id: 'number',
  body: 'text',
  author: USER,
  created_at: 'text',
  updated_at: 'text',
  system: 'flag',
  noteable_id: 'number',
  noteable_type: 'text',
  noteable_iid: 'number',
  resolvable: 'flag',
  internal: 'flag',
});

export const LABEL = entity({
  id: 'number',
  name: 'text',
  color: 'text',
  text_color: 'text',
  description: 'text?',
  subscribed: 'flag',
  priority: 'number?',
  is_project_label: 'flag',
});

// The label is null once it was deleted.
export const LABEL_EVENT = entity({
  id: 'number',
  user: USER,
  created_at: 'text',
  resource_type: ['Issue', 'MergeRequest', 'Epic'],
  resource_id: 'number',
  label: orNull(entity({ id: 'number', name: 'text', color: 'text', description: 'text?' })),
  action: ['add', 'remove'],
});

export const PIPELINE = entity({ id: 'number', sha: 'text', ref: 'text', status: 'text', web_url: 'text' });

export const BRANCH = entity({
  name: 'text',
  commit: entity({ id: 'text', short_id: 'text', title: 'text' }),
  merged: 'flag',
  protected: 'flag',
  developers_can_push: 'flag',
  developers_can_merge: 'flag',
  can_push: 'flag',
  default: 'flag',
  web_url: 'text',
});

export const MERGE_REQUEST_BASIC = entity({
  id: 'number',
  iid: 'number',
  project_id: 'number',
  title: 'text',
  description: 'text?',
  state: ['opened', 'closed', 'locked', 'merged'],
  target_branch: 'text',
  source_branch: 'text',
  // Null once the fork that it came from was deleted.
  source_project_id: 'number?',
  target_project_id: 'number',
  labels: listOf('text'),
  draft: 'flag',
  detailed_merge_status: 'text',
  sha: 'text',
  merge_commit_sha: 'text?',
  squash_commit_sha: 'text?',
  has_conflicts: 'flag',
  squash: 'flag',
  web_url: 'text',
});

export const MERGE_REQUEST = entity({ ...MERGE_REQUEST_BASIC.fields, head_pipeline: orNull(PIPELINE), changes_count: 'text' });

export const COMMIT_STATUS = entity({
  id: 'number',
  sha: 'text',
  ref: 'text',
  status: 'text',
  name: 'text',
  target_url: 'text?',
  description: 'text?',
  created_at: 'text',
  started_at: 'text?',
  finished_at: 'text?',
  allow_failure: 'flag',
  pipeline_id: 'number',
});
