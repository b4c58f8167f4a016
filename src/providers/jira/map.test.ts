import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../domain/model/issue.ts';
import { toComment, toIssue } from './map.ts';
import { COMMENT, ISSUE, ISSUE_STATE } from './schema.ts';

const SITE = 'https://acme.test';
const text = (value: string) => ({
  type: 'doc',
  version: 1,
  content: [{ type: 'paragraph', content: [{ type: 'text', text: value }] }],
});

function mapped(fields: unknown): Issue {
  return toIssue(ISSUE.parse({ id: '10001', key: 'ABC-1', fields }), SITE);
}

const blocker = { id: '7', key: 'ABC-7', fields: { status: { name: 'Doing' } } };
const link = (name: string, end: object) => ({ type: { name }, ...end });

describe('field mapping', () => {
  it.each<[string, unknown, keyof Issue, unknown]>([
    ['id as is', {}, 'id', '10001'],
    ['identifier is the key', {}, 'identifier', 'ABC-1'],
    ['title', { summary: 'Fix it' }, 'title', 'Fix it'],
    ['title absent', { summary: null }, 'title', ''],
    ['description flattened', { description: text('Some words') }, 'description', 'Some words'],
    ['description null', { description: null }, 'description', ''],
    ['description that is no document', { description: 'plain' }, 'description', ''],
    ['priority is the number of its id', { priority: { id: '2' } }, 'priority', 2],
    ['priority of a custom scheme', { priority: { id: '10004' } }, 'priority', 10004],
    ['priority absent', {}, 'priority', null],
    ['priority null', { priority: null }, 'priority', null],
    ['priority empty', { priority: { id: '' } }, 'priority', null],
    ['priority not numeric', { priority: { id: 'high' } }, 'priority', null],
    ['priority partly numeric', { priority: { id: '2nd' } }, 'priority', null],
    ['priority of another shape', { priority: 3 }, 'priority', null],
    ['state keeps its casing', { status: { name: 'In PROGRESS' } }, 'state', 'In PROGRESS'],
    ['state absent', { status: null }, 'state', ''],
    ['branch_name is empty', {}, 'branchName', ''],
    ['url', {}, 'url', 'https://acme.test/browse/ABC-1'],
    ['labels lowercased', { labels: ['Bug', 'area/UI'] }, 'labels', ['bug', 'area/ui']],
    ['labels null', { labels: null }, 'labels', []],
    ['labels with a bad entry', { labels: ['a', 7] }, 'labels', ['a']],
    ['assignee', { assignee: { displayName: 'Ann Smith' } }, 'assignee', 'Ann Smith'],
    ['assignee null', { assignee: null }, 'assignee', ''],
    ['issue_type', { issuetype: { name: 'Bug' } }, 'issueType', 'Bug'],
    ['issue_type absent', {}, 'issueType', ''],
    ['parent', { parent: { id: '9', key: 'ABC-9', fields: {} } }, 'parent', { id: '9', identifier: 'ABC-9' }],
    ['parent absent', {}, 'parent', null],
    ['comments are not read', {}, 'comments', null],
    ['created_at as is', { created: '2026-01-01T00:00:00.000+0000' }, 'createdAt', '2026-01-01T00:00:00.000+0000'],
    ['updated_at as is', { updated: '2026-01-02T00:00:00.000+0100' }, 'updatedAt', '2026-01-02T00:00:00.000+0100'],
    ['no display identifier', {}, 'displayIdentifier', null],
    ['blocked_by: none', {}, 'blockedBy', []],
    ['blocked_by: null', { issuelinks: null }, 'blockedBy', []],
    [
      'blocked_by: inward end of Blocks',
      { issuelinks: [link('Blocks', { inwardIssue: blocker })] },
      'blockedBy',
      [{ id: '7', identifier: 'ABC-7', state: 'Doing' }],
    ],
    [
      'blocked_by: the outward end is blocked by us',
      { issuelinks: [link('Blocks', { outwardIssue: blocker })] },
      'blockedBy',
      [],
    ],
    ['blocked_by: another type', { issuelinks: [link('Relates', { inwardIssue: blocker })] }, 'blockedBy', []],
    [
      'blocked_by: a renamed type, by its exact name',
      { issuelinks: [link('blocks', { inwardIssue: blocker })] },
      'blockedBy',
      [],
    ],
    [
      'blocked_by: status not included',
      { issuelinks: [link('Blocks', { inwardIssue: { id: '7', key: 'ABC-7' } })] },
      'blockedBy',
      [{ id: '7', identifier: 'ABC-7', state: '' }],
    ],
    [
      'blocked_by: an end that cannot be read still blocks',
      { issuelinks: [link('Blocks', { inwardIssue: 'x' })] },
      'blockedBy',
      [{ id: '', identifier: '', state: '' }],
    ],
    [
      'blocked_by: a bad entry is left out',
      { issuelinks: [7, link('Blocks', { inwardIssue: blocker })] },
      'blockedBy',
      [{ id: '7', identifier: 'ABC-7', state: 'Doing' }],
    ],
  ])('%s', (_, fields, field, expected) => {
    expect(mapped(fields)[field]).toEqual(expected);
  });

  it('an issue without fields has empty ones', () => {
    expect(mapped(null)).toMatchObject({ title: '', state: '', labels: [], blockedBy: [] });
  });

  it.each([
    ['id as is', { id: '5' }, { id: '5', author: '', body: '', createdAt: '' }],
    ['author', { id: '5', author: { displayName: 'Bob' } }, { author: 'Bob' }],
    ['author null', { id: '5', author: null }, { author: '' }],
    ['body flattened', { id: '5', body: text('hi') }, { body: 'hi' }],
    ['created_at', { id: '5', created: '2026-01-01T00:00:00.000+0000' }, { createdAt: '2026-01-01T00:00:00.000+0000' }],
  ])('comment: %s', (_, wire, expected) => {
    expect(toComment(COMMENT.parse(wire))).toMatchObject(expected);
  });

  it.each([
    ['plain', 'Ann Smith', ['Ann Smith', 'z@x.y', 'acc-z']],
    ['an account id', '712020:acc-ann', ['z@x.y', 'acc-z']],
    ['an account id of the older form', '5B10ac8d82e05b22cc7d4ef5', ['z@x.y', 'acc-z']],
    ['an e-mail address', 'ann@x.y', ['z@x.y', 'acc-z']],
  ])('nobody passes for another by a display name: %s', (_, displayName, names) => {
    const person = { accountId: 'acc-z', displayName, emailAddress: 'z@x.y' };
    expect(mapped({ creator: person }).author).toEqual({ id: 'acc-z', names, mayWrite: null });
    expect(toComment(COMMENT.parse({ id: '5', author: person })).writer).toMatchObject({ names });
  });

  it('whatever fits a schema can be mapped', () => {
    const keys = fc.constantFrom(
      'summary',
      'description',
      'priority',
      'status',
      'labels',
      'assignee',
      'issuetype',
      'parent',
      'issuelinks',
      'created',
    );
    const fields = fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue()));
    fc.assert(
      fc.property(
        fc.record({ id: fc.jsonValue(), key: fc.jsonValue(), fields, author: fc.jsonValue(), body: fc.jsonValue() }),
        (wire) => {
          const issue = ISSUE.safeParse(wire);
          if (issue.success) toIssue(issue.data, SITE);
          const comment = COMMENT.safeParse(wire);
          if (comment.success) toComment(comment.data);
          ISSUE_STATE.safeParse(wire);
        },
      ),
    );
  });
});

describe('blockers of a finished status category', () => {
  it.each([
    ['done', true],
    ['indeterminate', undefined],
    [null, undefined],
  ])('%j', (key, finished) => {
    const status = { name: 'Geschlossen', statusCategory: key && { key } };
    const blocker = { id: '7', key: 'ABC-7', fields: { status } };
    const wire = ISSUE.parse({
      id: '1',
      key: 'ABC-1',
      fields: { issuelinks: [{ type: { name: 'Blocks' }, inwardIssue: blocker }] },
    });
    expect(toIssue(wire, 'https://acme.test').blockedBy?.[0]?.finished).toBe(finished);
  });
});
