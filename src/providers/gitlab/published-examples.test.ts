import { describe, expect, it } from 'vitest';
import { derivedState, isIssue, stateRule, toComments, toIssue } from './map.ts';
import { CREATED_NOTE, ISSUE, LABEL, NOTE, TOKEN_SELF } from './schema.ts';
import { toLabelEvents, toMergeStatus } from './scm-map.ts';
import { COMMIT_STATUS, LABEL_EVENT, MERGE_REQUEST, REVIEWER, TRAIN_CAR } from './scm-schema.ts';

// The answers that the vendor shows on its pages (docs.gitlab.com/api), with the fields that are read here and some others.
const ROOT = { id: 1, name: 'Administrator', username: 'root', state: 'active', avatar_url: null, web_url: 'http://x/root' };

const CLOSED_ISSUE = {
  created_at: '2016-01-07T12:46:01.410Z',
  author: { name: 'Alexandra Bashirian', avatar_url: null, username: 'eileen.lowe', id: 18, state: 'active' },
  state: 'closed',
  title: 'Issues with auth',
  project_id: 4,
  description: null,
  updated_at: '2016-01-07T12:55:16.213Z',
  closed_by: ROOT,
  iid: 15,
  labels: ['bug'],
  id: 85,
  assignees: [],
  assignee: null,
  milestone: null,
  web_url: 'http://example.com/my-group/my-project/issues/15',
  references: { short: '#15', relative: '#15', full: 'my-group/my-project#15' },
};

describe('what the vendor shows as an answer is read', () => {
  it('"Issues API": an issue, also as older servers send it, without a type', () => {
    const wire = ISSUE.parse(CLOSED_ISSUE);
    expect(isIssue(wire)).toBe(true);
    const derived = derivedState(wire, stateRule({ active: ['todo'], terminal: ['done'], handoff: '' }));
    expect(toIssue(wire, { derived, project: 'my-group/my-project' })).toMatchObject({
      id: '15',
      identifier: '15',
      title: 'Issues with auth',
      description: '',
      state: 'done',
      labels: ['bug'],
      assignee: '',
      parent: null,
      blockedBy: [],
      createdAt: '2016-01-07T12:46:01.410Z',
    });
  });

  it('"Notes API": the system’s own notes are left out', () => {
    const author = { id: 1, username: 'pipin', email: 'admin@example.com', name: 'Pip', state: 'active' };
    const note = { id: 302, body: 'closed', attachment: null, author, created_at: '2013-10-02T09:22:45Z', noteable_iid: 377 };
    const notes = [
      { ...note, system: true },
      { ...note, id: 305, body: 'Text of the comment\r\n', system: false, internal: true },
    ].map((one) => NOTE.parse(one));
    expect(toComments(notes)).toMatchObject([{ id: '305', author: 'pipin', body: 'Text of the comment\r\n' }]);
    expect(CREATED_NOTE.parse({ ...note, commands_changes: {} }).id).toBe(302);
  });

  it('"Resource label events API": both kinds of event', () => {
    const event = { user: ROOT, created_at: '2018-08-20T13:38:20.077Z', resource_type: 'MergeRequest', resource_id: 28 };
    const label = { id: 73, name: 'a1', color: '#34495E', description: '' };
    const events = [
      { ...event, id: 142, label, action: 'add' },
      { ...event, id: 143, label: { ...label, name: 'p1' }, action: 'remove' },
      { ...event, id: 144, label: null, action: 'add' },
    ];
    expect(toLabelEvents(events.map((one) => LABEL_EVENT.parse(one)))).toMatchObject([
      { added: true, label: 'a1', actor: 'root' },
      { added: false, label: 'p1', actor: 'root' },
    ]);
  });

  it('"Merge requests API": one with its pipeline, and its reviewers', () => {
    const pipeline = { id: 29626725, sha: '2be7ddb7', ref: 'patch-28', status: 'success', web_url: 'http://x/pipelines/1' };
    const wire = MERGE_REQUEST.parse({
      id: 155016530,
      iid: 133,
      state: 'opened',
      target_branch: 'main',
      source_branch: 'manual-job-rules',
      source_project_id: 15513260,
      target_project_id: 15513260,
      labels: [],
      draft: false,
      work_in_progress: false,
      merge_status: 'can_be_merged',
      detailed_merge_status: 'can_be_merged',
      sha: 'e82eb4a098e32c796079ca3915e07487fc4db24c',
      merge_commit_sha: null,
      squash_commit_sha: null,
      has_conflicts: false,
      head_pipeline: pipeline,
      web_url: 'https://gitlab.com/marcel.amirault/test-project/-/merge_requests/133',
    });
    // The page shows a word here that no server sends: it is not in the page's own list of them.
    expect(toMergeStatus(wire)).toMatchObject({
      mergeability: 'blocked',
      merged: false,
      fork: false,
      headBranch: 'manual-job-rules',
    });
    expect(REVIEWER.parse({ user: ROOT, state: 'unreviewed', created_at: '2022-07-27T17:03:27.684Z' }).state).toBe('unreviewed');
  });

  it('the rest: labels, commit statuses, a train, the token itself', () => {
    expect(LABEL.parse({ id: 1, name: 'bug', color: '#d9534f', priority: 10, is_project_label: true }).name).toBe('bug');
    const status = { id: 93, sha: '18f3e63d', ref: 'develop', status: 'success', name: 'default', allow_failure: false };
    expect(COMMIT_STATUS.parse({ ...status, target_url: null, description: null, coverage: null }).pipeline_id).toBeUndefined();
    expect(TRAIN_CAR.parse({ id: 267, user: ROOT, target_branch: 'main', status: 'idle', merged_at: null }).status).toBe('idle');
    const token = { id: 4, name: 'Test Token', revoked: false, scopes: ['api'], user_id: 3, active: true, expires_at: null };
    expect(TOKEN_SELF.parse(token).scopes).toEqual(['api']);
  });
});
