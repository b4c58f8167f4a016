import type { FakeIssue, FakeLabel, FakeNote, FakeProject } from './store.ts';

/** Users by name, so that an id is the same in every run. */
export function userId(username: string): number {
  return [...username].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000_003, 1000);
}

export function userEntity(origin: string, username: string) {
  return {
    id: userId(username),
    username,
    public_email: '',
    name: username,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `${origin}/${username}`,
  };
}

export function issueEntity(origin: string, project: FakeProject, issue: FakeIssue) {
  const { iid } = issue;
  const api = `${origin}/api/v4/projects/${project.id}`;
  const assignees = issue.assignees.map((name) => userEntity(origin, name));
  return {
    // The instance-wide id: never the number people see.
    id: 90_000 + iid,
    iid,
    project_id: project.id,
    title: issue.title,
    description: issue.description,
    state: issue.state,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.state === 'closed' ? issue.updatedAt : null,
    closed_by: null,
    labels: [...issue.labels].sort(),
    milestone: issue.milestone === null ? null : { id: 1, iid: 1, title: issue.milestone, state: 'active' },
    assignees,
    author: userEntity(origin, issue.author),
    type: issue.issueType.toUpperCase(),
    assignee: assignees[0] ?? null,
    user_notes_count: issue.notes.filter(({ system }) => !system).length,
    merge_requests_count: 0,
    upvotes: 0,
    downvotes: 0,
    due_date: null,
    confidential: issue.confidential,
    discussion_locked: null,
    issue_type: issue.issueType,
    web_url: `${origin}/${project.path}/-/issues/${iid}`,
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
    task_completion_status: { count: 0, completed_count: 0 },
    has_tasks: false,
    blocking_issues_count: 0,
    _links: {
      self: `${api}/issues/${iid}`,
      notes: `${api}/issues/${iid}/notes`,
      award_emoji: `${api}/issues/${iid}/award_emoji`,
      project: api,
      closed_as_duplicate_of: null,
    },
    references: { short: `#${iid}`, relative: `#${iid}`, full: `${project.path}#${iid}` },
    severity: 'UNKNOWN',
    moved_to_id: null,
    service_desk_reply_to: null,
  };
}

export function noteEntity(origin: string, issue: FakeIssue, note: FakeNote, commands: Readonly<Record<string, unknown>> = {}) {
  return {
    id: note.id,
    type: null,
    body: note.body,
    author: userEntity(origin, note.author),
    created_at: note.createdAt,
    updated_at: note.createdAt,
    system: note.system,
    noteable_id: 90_000 + issue.iid,
    noteable_type: 'Issue',
    resolvable: false,
    confidential: note.internal,
    internal: note.internal,
    imported: false,
    imported_from: 'none',
    noteable_iid: issue.iid,
    commands_changes: commands,
  };
}

export function issueLabelEventEntity(origin: string, issue: FakeIssue, event: FakeIssue['labelEvents'][number]) {
  return {
    id: event.id,
    user: userEntity(origin, 'ada'),
    created_at: event.createdAt,
    resource_type: 'Issue',
    resource_id: 90_000 + issue.iid,
    label: labelEntity({ name: event.label, isProjectLabel: true }, 1),
    action: event.action,
  };
}

export function labelEntity(label: FakeLabel, id: number) {
  return {
    id,
    name: label.name,
    description: null,
    description_html: '',
    text_color: '#FFFFFF',
    color: '#6699cc',
    archived: false,
    subscribed: false,
    priority: null,
    is_project_label: label.isProjectLabel,
  };
}

export function projectEntity(origin: string, { id, path, archived, visibility }: FakeProject) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    id,
    description: null,
    name,
    name_with_namespace: path.split('/').join(' / '),
    path: name,
    path_with_namespace: path,
    default_branch: 'main',
    web_url: `${origin}/${path}`,
    archived,
    visibility,
    issues_enabled: true,
    issues_access_level: 'enabled',
    empty_repo: false,
  };
}
