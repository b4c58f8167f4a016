import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../domain/model/issue.ts';
import { byAge, isPullRequest, stateOf, toBlocker, toComment, toIssue } from './map.ts';
import { COMMENT, ISSUE, LABEL } from './schema.ts';
import { stateRuleOf } from './settings.ts';

const rule = stateRuleOf({ active: ['Todo', 'doing'], terminal: ['done', 'wontfix'], handoff: 'review' });
const home = { owner: 'acme', repo: 'app' };
const label = (name: string, id = 1) => ({ id, name });
const wire = (parts: object) => ISSUE.parse({ number: 7, ...parts });
const issue = (parts: object) => toIssue(wire(parts), rule);

describe('gitea field mapping', () => {
  it.each<[string, object, Partial<Issue>]>([
    [
      'id, identifier: the number, never the global id',
      { id: 901, number: 7 },
      { id: '7', identifier: '7', displayIdentifier: null },
    ],
    ['title', { title: 'One' }, { title: 'One' }],
    ['description: body', { body: '# hi' }, { description: '# hi' }],
    ['description: null gives empty', { body: null }, { description: '' }],
    ['priority: always nil', { priority: 3 }, { priority: null }],
    ['state: from labels', { state: 'open', labels: [label('doing')] }, { state: 'doing' }],
    ['branch_name: ref', { ref: 'refs/heads/x' }, { branchName: 'refs/heads/x' }],
    ['branch_name: empty becomes null', { ref: '' }, { branchName: null }],
    ['branch_name: null stays null', { ref: null }, { branchName: null }],
    ['url: html_url', { html_url: 'https://h/acme/app/issues/7', url: 'https://h/api' }, { url: 'https://h/acme/app/issues/7' }],
    ['labels: lowercased', { labels: [label('Bug'), label('UI')] }, { labels: ['bug', 'ui'] }],
    ['labels: null gives an empty list', { labels: null }, { labels: [] }],
    ['assignee: the first', { assignees: [{ login: 'bob' }, { login: 'eve' }], assignee: { login: 'no' } }, { assignee: 'bob' }],
    ['assignee: empty when none', { assignees: null, assignee: { login: 'no' } }, { assignee: '' }],
    ['issue_type: always empty', { issue_type: 'bug' }, { issueType: '' }],
    ['parent: always nil', { parent: { id: 1 } }, { parent: null }],
    ['comments: nil in lists', { comments: 3 }, { comments: null }],
    ['blocked_by: unresolved in lists', {}, { blockedBy: null }],
    [
      'created_at, updated_at: as given',
      { created_at: '2026-01-02T03:04:05+02:00', updated_at: '2026-01-03T00:00:00Z' },
      { createdAt: '2026-01-02T03:04:05+02:00', updatedAt: '2026-01-03T00:00:00Z' },
    ],
  ])('%s', (_, parts, expected) => {
    expect(issue(parts)).toMatchObject(expected);
  });

  it('comment: id as string, author from user.login, body, created_at', () => {
    const given = { id: 42, user: { login: 'bob' }, body: '*x*', created_at: '2026-01-01T00:00:00Z' };
    expect(toComment(COMMENT.parse(given))).toMatchObject({
      id: '42',
      author: 'bob',
      body: '*x*',
      createdAt: '2026-01-01T00:00:00Z',
    });
    expect(toComment(COMMENT.parse({ id: 1, user: null, body: null }))).toMatchObject({
      id: '1',
      author: '',
      body: '',
      createdAt: '',
    });
  });

  it('blocker: index, display id of its own repository, state from its own labels', () => {
    const foreign = wire({ number: 3, state: 'open', labels: [label('Done')], repository: { full_name: 'other/lib' } });
    expect(toBlocker(foreign, rule, home)).toEqual({ id: '3', identifier: '3', displayId: 'other/lib#3', state: 'done' });
    expect(toBlocker(wire({ number: 4 }), rule, home)).toEqual({ id: '4', identifier: '4', displayId: 'acme/app#4', state: '' });
  });

  it('blocker: one that is closed says so where its labels do not', () => {
    const closed = (...labels: object[]) => toBlocker(wire({ number: 4, state: 'closed', labels }), rule, home);
    expect(closed(label('doing'))).toMatchObject({ state: 'doing', isClosed: true });
    expect(closed()).not.toHaveProperty('isClosed');
    expect(closed(label('wontfix'))).not.toHaveProperty('isClosed');
  });
});

describe('gitea state derivation', () => {
  it.each<[string, string, string[], string]>([
    ['terminal before handoff and active', 'open', ['todo', 'review', 'done'], 'done'],
    ['handoff before active', 'open', ['doing', 'review'], 'review'],
    ['configuration order within a list', 'open', ['doing', 'todo'], 'Todo'],
    ['case does not matter, the configured spelling is given', 'open', ['TODO'], 'Todo'],
    ['a closed issue with an active label keeps it', 'closed', ['doing'], 'doing'],
    ['no label, closed: the first terminal state', 'closed', ['bug'], 'done'],
    ['no label, open: no state', 'open', ['bug'], ''],
    ['no label at all, open: no state', 'open', [], ''],
  ])('%s', (_, state, labels, expected) => {
    expect(issue({ state, labels: labels.map((name) => label(name)) }).state).toBe(expected);
  });

  it('tells all that match', () => {
    const several = wire({ state: 'open', labels: [label('todo'), label('review')] });
    expect(stateOf(several, rule).matches).toEqual(['review', 'Todo']);
  });

  it('works without a handoff state', () => {
    const plain = stateRuleOf({ active: ['todo'], terminal: ['done'], handoff: null });
    expect(toIssue(wire({ labels: [label('review')] }), plain).state).toBe('');
  });
});

describe('gitea records', () => {
  it('a label that cannot be read loses neither the issue nor its other labels', () => {
    expect(issue({ labels: [null, 3, { id: 1 }, { id: 'x', name: 'bug' }, label('doing')] }).labels).toEqual(['bug', 'doing']);
  });

  it('the pull-request marker is present and not null', () => {
    expect([wire({}), wire({ pull_request: null }), wire({ pull_request: { merged: false } })].map(isPullRequest)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('age is compared as an instant, then by number', () => {
    const made = (number: number, created_at: string) => issue({ number, created_at });
    const sorted = [made(1, '2026-01-01T12:00:00Z'), made(2, '2026-01-01T12:30:00+02:00'), made(10, ''), made(9, '')].toSorted(
      byAge,
    );
    expect(sorted.map(({ id }) => id)).toEqual(['9', '10', '2', '1']);
  });

  it('no record makes a mapper throw', () => {
    const record = fc.record(
      {
        number: fc.oneof(fc.nat(), fc.anything()),
        title: fc.anything(),
        body: fc.anything(),
        state: fc.anything(),
        ref: fc.anything(),
        html_url: fc.anything(),
        labels: fc.oneof(fc.array(fc.oneof(fc.anything(), fc.record({ id: fc.anything(), name: fc.anything() }))), fc.anything()),
        assignees: fc.oneof(fc.array(fc.anything()), fc.anything()),
        pull_request: fc.anything(),
        repository: fc.anything(),
        created_at: fc.anything(),
        updated_at: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(record, fc.anything()), (value) => {
        const parsed = ISSUE.safeParse(value);
        if (!parsed.success) return;
        const mapped = toIssue(parsed.data, rule);
        expect(mapped.id).toMatch(/^\d+$/);
        expect(toBlocker(parsed.data, rule, home).id).toBe(mapped.id);
        expect(byAge(mapped, mapped)).toBe(0);
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.record({ id: fc.integer(), user: fc.anything(), body: fc.anything() }), fc.anything()), (value) => {
        const parsed = COMMENT.safeParse(value);
        if (parsed.success) expect(toComment(parsed.data).author).toBeTypeOf('string');
        LABEL.safeParse(value);
      }),
    );
  });
});
