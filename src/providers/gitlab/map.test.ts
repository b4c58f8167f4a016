import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../domain/model/issue.ts';
import { derivedState, isIssue, stateRule, toComments, toIssue } from './map.ts';
import type { WireIssue } from './schema.ts';
import { CREATED_NOTE, ISSUE, NOTE, TOKEN_SELF } from './schema.ts';

const STATES = { active: ['backlog', 'in-progress'], terminal: ['done', 'wontfix'], handoff: 'human-review' };
const FULL = {
  id: 90_007,
  iid: 7,
  title: 'Fly',
  description: 'To the **moon**',
  state: 'opened',
  labels: ['Bug', 'In-Progress'],
  assignees: [{ username: 'ada' }, { username: 'bob' }],
  assignee: { username: 'singular' },
  author: { username: 'eve' },
  issue_type: 'ISSUE',
  web_url: 'https://gitlab.example.com/acme/rocket/-/issues/7',
  references: { full: 'acme/rocket#7' },
  created_at: '2026-01-02T03:04:05.678+02:00',
  updated_at: '2026-01-03T00:00:00Z',
  weight: 5,
};

function mapped(over: Record<string, unknown> = {}): Issue {
  return toIssue(ISSUE.parse({ ...FULL, ...over }), {
    derived: { state: 'backlog', matches: ['backlog'], isClosed: false },
    project: 'acme/rocket',
  });
}

describe('field mapping', () => {
  it.each<[row: string, field: keyof Issue, over: Record<string, unknown>, value: unknown]>([
    ['id is the iid as text', 'id', {}, '7'],
    ['identifier is the iid as text', 'identifier', {}, '7'],
    ['title', 'title', {}, 'Fly'],
    ['title null', 'title', { title: null }, ''],
    ['description passes through', 'description', {}, 'To the **moon**'],
    ['description null gives empty', 'description', { description: null }, ''],
    ['priority is always nil', 'priority', {}, null],
    ['branch_name is always empty', 'branchName', {}, ''],
    ['url is web_url', 'url', {}, 'https://gitlab.example.com/acme/rocket/-/issues/7'],
    ['labels lowercased', 'labels', {}, ['bug', 'in-progress']],
    ['labels none', 'labels', { labels: [] }, []],
    ['labels null', 'labels', { labels: null }, []],
    ['assignee is the first of assignees', 'assignee', {}, 'ada'],
    ['assignee singular is never read', 'assignee', { assignees: [] }, ''],
    ['assignee null entry', 'assignee', { assignees: [null] }, ''],
    ['issue_type lowercase', 'issueType', {}, 'issue'],
    ['parent is always nil', 'parent', { parent: { iid: 1 }, epic: { iid: 2 } }, null],
    ['comments nil on lists', 'comments', {}, null],
    ['blocked_by is an empty list', 'blockedBy', { blocking_issues_count: 3 }, []],
    ['created_at as is', 'createdAt', {}, '2026-01-02T03:04:05.678+02:00'],
    ['updated_at as is', 'updatedAt', {}, '2026-01-03T00:00:00Z'],
    ['display identifier from references.full', 'displayIdentifier', { references: { full: 'other/name#7' } }, 'other/name#7'],
    ['display identifier without references', 'displayIdentifier', { references: null }, 'acme/rocket#7'],
    ['display identifier with an empty reference', 'displayIdentifier', { references: { full: '' } }, 'acme/rocket#7'],
  ])('%s', (_, field, over, value) => {
    expect(mapped(over)[field]).toEqual(value);
  });

  it('comments: id as text, author.username, body, created_at; system notes dropped, internal ones kept', () => {
    const note = { id: 301, body: 'Hi *there*', author: { username: 'ada' }, created_at: '2026-01-01T00:00:00Z', system: false };
    const notes = [note, { ...note, id: 302, system: true }, { ...note, id: 303, internal: true, author: null, body: null }];
    expect(toComments(notes.map((one) => NOTE.parse(one)))).toMatchObject([
      { id: '301', author: 'ada', body: 'Hi *there*', createdAt: '2026-01-01T00:00:00Z' },
      { id: '303', author: '', body: '', createdAt: '2026-01-01T00:00:00Z' },
    ]);
    expect(toComments([])).toEqual([]);
  });
});

describe('state derivation', () => {
  it.each<[row: string, labels: string[], native: string, state: string, matches: string[]]>([
    ['an active label', ['in-progress'], 'opened', 'in-progress', ['in-progress']],
    ['a terminal label on an open issue', ['done'], 'opened', 'done', ['done']],
    ['the handoff label', ['human-review'], 'opened', 'human-review', ['human-review']],
    ['case does not matter', ['In-PROGRESS'], 'opened', 'in-progress', ['in-progress']],
    ['active before terminal', ['done', 'backlog'], 'closed', 'backlog', ['backlog', 'done']],
    ['terminal before handoff', ['human-review', 'wontfix'], 'opened', 'wontfix', ['wontfix', 'human-review']],
    ['none on an opened issue: the first active state', ['bug'], 'opened', 'backlog', []],
    ['none on a closed issue: the first terminal state', [], 'closed', 'done', []],
  ])('%s', (_, labels, native, state, matches) => {
    expect(derivedState(ISSUE.parse({ iid: 1, labels, state: native }), stateRule(STATES))).toMatchObject({ state, matches });
  });

  it.each(['opened', 'closed'])('with its list empty the native value %s passes through', (native) => {
    const rule = stateRule({ active: [], terminal: [], handoff: null });
    expect(derivedState(ISSUE.parse({ iid: 1, state: native }), rule).state).toBe(native);
  });
});

describe('type guard', () => {
  it.each<[string | null | undefined, boolean]>([
    ['issue', true],
    ['ISSUE', true],
    ['task', false],
    ['incident', false],
    ['test_case', false],
    ['ticket', false],
    [null, true],
    [undefined, true],
  ])('%s: %s', (issue_type, is) => {
    expect(isIssue({ iid: 1, issue_type })).toBe(is);
  });
});

describe('whatever the remote sends', () => {
  const wild = fc.oneof(
    fc.anything(),
    fc.record(
      Object.fromEntries(Object.keys(FULL).map((key) => [key, fc.oneof(fc.anything(), fc.constant(FULL[key as 'iid']))])),
    ),
  );

  it('an issue is either refused by the schema or mapped without a throw', () => {
    fc.assert(
      fc.property(wild, (value) => {
        const parsed = ISSUE.safeParse(value);
        if (!parsed.success) return;
        const wire: WireIssue = parsed.data;
        const issue = toIssue(wire, { derived: derivedState(wire, stateRule(STATES)), project: 'a/b' });
        expect(issue.id).toMatch(/^[1-9]\d*$/);
        expect(issue.blockedBy).toEqual([]);
      }),
    );
  });

  it('so are notes, answers to a comment, and tokens', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const note = NOTE.safeParse(value);
        if (note.success) toComments([note.data]);
        CREATED_NOTE.safeParse(value);
        TOKEN_SELF.safeParse(value);
      }),
    );
  });
});
