import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../domain/model/issue.ts';
import { byPriorityThenAge, toComments, toIssue, unresolvedReason } from './map.ts';
import { COMMENT, ISSUE, ISSUE_STATE, LABEL, TEAM_STATE } from './schema.ts';

const BASE = { id: '7b0e1b0e-0000-4000-8000-000000000001', identifier: 'ENG-7' };
const wire = (parts: object) => ISSUE.parse({ ...BASE, ...parts });
const issue = (parts: object) => toIssue(wire(parts));
const list = (nodes: unknown, hasNextPage = false) => ({ nodes, pageInfo: { hasNextPage, endCursor: null } });
const blocks = (type: unknown, other: unknown) => ({ inverseRelations: list([{ type, issue: other }]) });
const blocker = { id: 'b1', identifier: 'ENG-1', state: { name: 'Todo' } };
const many = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `l${n}` }));
const relations = (count: number) => Array.from({ length: count }, () => ({ type: 'related', issue: blocker }));

describe('linear field mapping', () => {
  it.each<[string, object, Partial<Issue>]>([
    ['id: the UUID', {}, { id: BASE.id }],
    ['identifier: <TEAM>-<n>', {}, { identifier: 'ENG-7', displayIdentifier: null }],
    ['title', { title: 'One' }, { title: 'One' }],
    ['description: Markdown', { description: '# hi' }, { description: '# hi' }],
    ['description: null gives empty', { description: null }, { description: '' }],
    ['priority: 0 gives nil', { priority: 0 }, { priority: null }],
    ['priority: 1 urgent', { priority: 1 }, { priority: 1 }],
    ['priority: 2 high', { priority: 2 }, { priority: 2 }],
    ['priority: 3 medium', { priority: 3 }, { priority: 3 }],
    ['priority: 4 low', { priority: 4 }, { priority: 4 }],
    ['priority: anything else gives nil', { priority: 2.5 }, { priority: null }],
    ['state: casing preserved', { state: { name: 'In PROGRESS' } }, { state: 'In PROGRESS' }],
    ['branch_name: opaque', { branchName: 'ann/eng-7-Ünï' }, { branchName: 'ann/eng-7-Ünï' }],
    ['url: as given', { url: 'https://linear.app/acme/issue/ENG-7' }, { url: 'https://linear.app/acme/issue/ENG-7' }],
    ['labels: lowercased', { labels: list([{ name: 'Bug' }, { name: 'UI' }]) }, { labels: ['bug', 'ui'] }],
    ['labels: none gives an empty list', {}, { labels: [] }],
    ['assignee: displayName', { assignee: { displayName: 'ann', name: 'Ann', email: 'a@x' } }, { assignee: 'ann' }],
    ['assignee: else name', { assignee: { displayName: '', name: 'Ann', email: 'a@x' } }, { assignee: 'Ann' }],
    ['assignee: else email', { assignee: { displayName: null, name: null, email: 'a@x' } }, { assignee: 'a@x' }],
    ['assignee: empty when null', { assignee: null }, { assignee: '' }],
    ['issue_type: always empty', { issueType: 'bug' }, { issueType: '' }],
    ['parent', { parent: { id: 'p', identifier: 'ENG-1', x: 1 } }, { parent: { id: 'p', identifier: 'ENG-1' } }],
    ['parent: nil when absent', { parent: null }, { parent: null }],
    ['comments: nil on lists', { comments: list([]) }, { comments: null }],
    [
      'blocked_by: relations of type blocks',
      blocks('blocks', blocker),
      { blockedBy: [{ id: 'b1', identifier: 'ENG-1', state: 'Todo' }] },
    ],
    [
      'blocked_by: the type is trimmed, its case ignored',
      blocks(' Blocks ', { ...blocker, state: null }),
      { blockedBy: [{ id: 'b1', identifier: 'ENG-1', state: '' }] },
    ],
    ['blocked_by: other types do not block', blocks('duplicate', blocker), { blockedBy: [] }],
    ['blocked_by: none', {}, { blockedBy: [] }],
    [
      'created_at, updated_at',
      { createdAt: '2026-01-02T03:04:05.678Z', updatedAt: '2026-01-03T00:00:00.000Z' },
      { createdAt: '2026-01-02T03:04:05.678Z', updatedAt: '2026-01-03T00:00:00.000Z' },
    ],
  ])('%s', (_, parts, expected) => {
    expect(issue(parts)).toMatchObject(expected);
  });

  it.each<[string, object, string]>([
    ['author: user.displayName', { user: { displayName: 'ann', name: 'Ann' }, botActor: { name: 'Bot' } }, 'ann'],
    ['author: else user.name', { user: { displayName: '', name: 'Ann' } }, 'Ann'],
    ['author: else botActor.name', { user: null, botActor: { name: 'Bot' } }, 'Bot'],
    ['author: else empty', { user: null, botActor: null }, ''],
    ['author: never the email', { user: { email: 'a@x' } }, ''],
  ])('comment %s', (_, parts, author) => {
    const given = COMMENT.parse({ id: 'c', body: '*x*', createdAt: '2026-01-01T00:00:00Z', ...parts });
    expect(toComments([given])).toMatchObject([{ id: 'c', author, body: '*x*', createdAt: '2026-01-01T00:00:00Z' }]);
  });

  it.each([
    ['plain', { displayName: 'ann', name: 'Ann Smith' }, ['ann', 'Ann Smith', 'z@x.y']],
    ['a display name that is an e-mail address', { displayName: 'ann@x.y', name: 'Ann' }, ['Ann', 'z@x.y']],
    ['a name that is an e-mail address', { displayName: 'ann', name: ' ann@x.y' }, ['ann', 'z@x.y']],
  ])('nobody passes for another by a name: %s', (_, chosen, names) => {
    const person = { id: 'u-z', email: 'z@x.y', ...chosen };
    expect(issue({ creator: person }).author).toEqual({ id: 'u-z', names, mayWrite: null });
    expect(toComments([COMMENT.parse({ id: 'c', user: person })])).toMatchObject([{ writer: { names } }]);
  });

  it('comments: newest first becomes oldest first, also within one instant', () => {
    const at = (id: string, createdAt: string) => COMMENT.parse({ id, body: '', createdAt });
    const given = [
      at('4', '2026-01-02T00:00:00Z'),
      at('1', '2025-12-31T23:30:00Z'),
      at('3', '2026-01-01T00:00:00Z'),
      at('2', '2026-01-01T01:00:00+01:00'),
    ];
    expect(toComments(given).map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
  });
});

describe('linear nested cap', () => {
  it.each<[string, object, string | null]>([
    ['25 labels are fine', { labels: list(many(25)) }, null],
    ['25 relations are fine', { inverseRelations: list(relations(25)) }, null],
    ['more labels than came along', { labels: list(many(25), true) }, 'more than 25 labels'],
    ['more relations than came along', { inverseRelations: list(relations(25), true) }, 'more than 25 relations'],
    ['26 relations', { inverseRelations: list(relations(26)) }, 'more than 25 relations'],
    ['a blocking relation without its issue', blocks('blocks', null), 'a relation that cannot be read'],
    ['a blocking issue of a wrong shape', blocks('blocks', { id: 1 }), 'a relation that cannot be read'],
    ['a relation without a type', blocks(null, blocker), 'a relation that cannot be read'],
    ['relations of a wrong shape', { inverseRelations: { nodes: 'x' } }, 'a relation that cannot be read'],
    ['another relation without its issue', blocks('related', null), null],
    ['a label of a wrong shape', { labels: list([{ name: 1 }, { name: 'ok' }]) }, null],
  ])('%s', (_, parts, reason) => {
    expect(unresolvedReason(wire(parts))).toBe(reason);
    expect(issue(parts).blockedBy === null).toBe(reason !== null);
  });
});

describe('linear order of candidates', () => {
  it('is priority ascending, none last, then creation time', () => {
    const given = [
      issue({ identifier: 'none-new', priority: 0, createdAt: '2026-01-03T00:00:00Z' }),
      issue({ identifier: 'low', priority: 4, createdAt: '2026-01-01T00:00:00Z' }),
      issue({ identifier: 'urgent-new', priority: 1, createdAt: '2026-01-02T00:00:00Z' }),
      issue({ identifier: 'none-old', createdAt: '2026-01-01T00:00:00Z' }),
      issue({ identifier: 'urgent-old', priority: 1, createdAt: '2026-01-02T00:30:00+01:00' }),
    ];
    const sorted = given.toSorted(byPriorityThenAge).map(({ identifier }) => identifier);
    expect(sorted).toEqual(['urgent-old', 'urgent-new', 'low', 'none-old', 'none-new']);
  });
});

describe('linear records', () => {
  it('no record makes a mapper throw', () => {
    const nested = fc.oneof(
      fc.anything(),
      fc.record({
        nodes: fc.oneof(
          fc.anything(),
          fc.array(fc.oneof(fc.anything(), fc.record({ type: fc.anything(), name: fc.anything(), issue: fc.anything() }))),
        ),
        pageInfo: fc.oneof(fc.anything(), fc.record({ hasNextPage: fc.anything() })),
      }),
    );
    const record = fc.record(
      {
        id: fc.oneof(fc.uuid(), fc.anything()),
        identifier: fc.oneof(fc.constant('ENG-1'), fc.anything()),
        title: fc.option(fc.string()),
        priority: fc.anything(),
        state: fc.anything(),
        assignee: fc.anything(),
        parent: fc.anything(),
        labels: nested,
        inverseRelations: nested,
        createdAt: fc.option(fc.string()),
      },
      { requiredKeys: ['id', 'identifier'] },
    );
    fc.assert(
      fc.property(fc.oneof(record, fc.anything()), (value) => {
        const parsed = ISSUE.safeParse(value);
        if (!parsed.success) return;
        const mapped = toIssue(parsed.data);
        expect([mapped.id === '', byPriorityThenAge(mapped, mapped)]).toEqual([false, 0]);
        expect(mapped.blockedBy === null).toBe(unresolvedReason(parsed.data) !== null);
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.record({ id: fc.uuid(), user: fc.anything(), botActor: fc.anything() }), fc.anything()),
        (value) => {
          const parsed = COMMENT.safeParse(value);
          if (parsed.success) expect(toComments([parsed.data])[0]?.author).toBeTypeOf('string');
          for (const schema of [ISSUE_STATE, LABEL, TEAM_STATE]) schema.safeParse(value);
        },
      ),
    );
  });
});
