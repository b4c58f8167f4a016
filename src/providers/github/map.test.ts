import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBlocker, toComment, toIssue, toParent, repositoryOf, stateOf } from './map.ts';
import { COMMENT, FULL_ISSUE, ISSUE } from './schema.ts';
import type { StateNames } from './settings.ts';
import { usualIssue } from './usual-issue.ts';

const STATES: StateNames = { active: ['backlog', 'in-progress'], terminal: ['done', 'wontfix'], parking: ['needs-review'] };
const CONTEXT = { repository: { owner: 'acme', repo: 'widgets' }, states: STATES };

const WIRE = {
  id: 900_000_001,
  number: 42,
  title: 'Broken pump',
  body: 'It *leaks*.',
  state: 'open',
  html_url: 'https://forge.example/acme/widgets/issues/42',
  repository_url: 'https://api.forge.example/repos/acme/widgets',
  labels: [
    { id: 1, name: 'Bug' },
    { id: 2, name: 'In-Progress' },
  ],
  assignees: [{ login: 'ann' }, { login: 'bob' }],
  assignee: { login: 'never-read' },
  type: { id: 1, name: 'Defect' },
  comments: 3,
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-03T03:04:05Z',
};

const issueFrom = (parts: object = {}) => toIssue(ISSUE.parse({ ...WIRE, ...parts }), CONTEXT);

describe('issue fields', () => {
  it.each([
    ['id', {}, '42'],
    ['identifier', {}, '42'],
    ['displayIdentifier', {}, 'acme/widgets#42'],
    ['title', {}, 'Broken pump'],
    ['description', {}, 'It *leaks*.'],
    ['description', { body: null }, ''],
    ['description', { body: undefined }, ''],
    ['priority', { priority: 1 }, null],
    ['state', {}, 'in-progress'],
    ['branchName', { ref: 'main' }, ''],
    ['url', {}, WIRE.html_url],
    ['labels', {}, ['bug', 'in-progress']],
    ['labels', { labels: [] }, []],
    ['labels', { labels: null }, []],
    ['labels', { labels: ['Plain', { name: null }, { name: 'B' }] }, ['plain', 'b']],
    ['assignee', {}, 'ann'],
    ['assignee', { assignees: [] }, ''],
    ['assignee', { assignees: null }, ''],
    ['issueType', {}, 'Defect'],
    ['issueType', { type: null }, ''],
    ['issueType', { type: undefined }, ''],
    ['parent', {}, null],
    ['comments', {}, null],
    ['blockedBy', { issue_dependencies_summary: { blocked_by: 0, total_blocked_by: 0 } }, []],
    ['blockedBy', { issue_dependencies_summary: { blocked_by: 0, total_blocked_by: 1 } }, null],
    ['blockedBy', { issue_dependencies_summary: null }, null],
    ['blockedBy', {}, null],
    ['createdAt', {}, '2026-01-02T03:04:05Z'],
    ['updatedAt', {}, '2026-01-03T03:04:05Z'],
  ] as const)('%s of %j is %j', (field, parts, expected) => {
    expect(issueFrom(parts)[field]).toEqual(expected);
  });
});

describe('comment fields', () => {
  it.each([
    ['id', {}, '7001'],
    ['author', {}, 'ann'],
    ['author', { user: null }, ''],
    ['body', {}, '**bold**'],
    ['body', { body: null }, ''],
    ['createdAt', {}, '2026-01-02T00:00:00Z'],
  ] as const)('%s of %j is %j', (field, parts, expected) => {
    const wire = { id: 7001, user: { login: 'ann' }, body: '**bold**', created_at: '2026-01-02T00:00:00Z', ...parts };
    expect(toComment(COMMENT.parse(wire))[field]).toBe(expected);
  });
});

describe('state derivation', () => {
  const stateFrom = (labels: string[], state: string, states: StateNames = STATES) =>
    stateOf(ISSUE.parse({ ...WIRE, labels, state }), states).state;

  it.each<[string, string[], string, string]>([
    ['rule 1: the first active entry among the labels', ['x', 'in-progress'], 'open', 'in-progress'],
    ['rule 1: the order of the configuration decides', ['in-progress', 'backlog'], 'open', 'backlog'],
    ['rule 1: active wins over terminal', ['done', 'backlog'], 'open', 'backlog'],
    ['rule 1: active wins over closed', ['in-progress'], 'closed', 'in-progress'],
    ['rule 1: case does not matter', ['In-PROGRESS'], 'open', 'in-progress'],
    ['rule 2: the first terminal entry among the labels', ['wontfix', 'done'], 'closed', 'done'],
    ['rule 2: terminal wins over open', ['wontfix'], 'open', 'wontfix'],
    ['handoff: after active and terminal', ['needs-review'], 'open', 'needs-review'],
    ['handoff: active wins', ['needs-review', 'backlog'], 'open', 'backlog'],
    ['handoff: terminal wins', ['needs-review', 'done'], 'closed', 'done'],
    ['rule 3: no label matched, open', ['x'], 'open', 'backlog'],
    ['rule 3: no label matched, closed', [], 'closed', 'done'],
  ])('%s', (_, labels, native, expected) => {
    expect(stateFrom(labels, native)).toBe(expected);
  });

  it.each(['open', 'closed'])('rule 4: both lists empty, %s stays as it is', (native) => {
    expect(stateFrom(['backlog'], native, { active: [], terminal: [], parking: [] })).toBe(native);
  });

  it('an empty list alone lets its native state through', () => {
    expect(stateFrom([], 'open', { ...STATES, active: [] })).toBe('open');
    expect(stateFrom([], 'closed', { ...STATES, terminal: [] })).toBe('closed');
  });
});

describe('blockers and parents', () => {
  const blockerFrom = (parts: object) => toBlocker(ISSUE.parse({ ...WIRE, number: 7, ...parts }), CONTEXT);

  it.each<[string, object, object]>([
    ['of the same repository', {}, { id: '7', identifier: '7', state: 'in-progress' }],
    ['whose repository is not told', { repository_url: null }, { id: '7', identifier: '7', state: 'in-progress' }],
    [
      'of another repository',
      { repository_url: 'https://api.forge.example/repos/acme/other' },
      { id: '7', identifier: '7', displayId: 'acme/other#7', state: 'in-progress' },
    ],
    [
      'of the same repository in other case',
      { repository_url: 'https://x/api/v3/repos/Acme/Widgets' },
      { id: '7', identifier: '7', state: 'in-progress' },
    ],
    ['that is open without a label', { labels: [] }, { id: '7', identifier: '7', state: 'backlog' }],
    ['that is closed without a label', { labels: [], state: 'closed' }, { id: '7', identifier: '7', state: 'done' }],
    ['that is closed as wontfix', { labels: ['wontfix'], state: 'closed' }, { id: '7', identifier: '7', state: 'wontfix' }],
    [
      'that is closed and kept its active label',
      { labels: ['in-progress'], state: 'closed' },
      { id: '7', identifier: '7', state: 'done' },
    ],
  ])('a blocker %s', (_, parts, expected) => {
    expect(blockerFrom(parts)).toEqual(expected);
  });

  it('a closed blocker says so where no terminal states are configured', () => {
    const context = { ...CONTEXT, states: { ...STATES, terminal: [] } };
    const blocker = (state: string) => toBlocker(ISSUE.parse({ ...WIRE, number: 7, labels: [], state }), context);
    expect(blocker('closed')).toMatchObject({ isClosed: true });
    expect(blocker('open')).not.toHaveProperty('isClosed');
  });

  it('a parent is named by its number', () => {
    expect(toParent(ISSUE.parse({ ...WIRE, number: 3 }))).toEqual({ id: '3', identifier: '3' });
  });

  it('a repository address is read from its end', () => {
    expect(repositoryOf(ISSUE.parse({ ...WIRE, repository_url: 'https://x/api/v3/repos/a/b' }))).toEqual({
      owner: 'a',
      repo: 'b',
    });
    expect(repositoryOf(ISSUE.parse({ ...WIRE, repository_url: 'nonsense' }))).toBeUndefined();
  });
});

describe('whatever is sent', () => {
  const values = fc.jsonValue({ maxDepth: 2 });
  const fields = Object.keys(WIRE).concat('issue_dependencies_summary', 'pull_request', 'parent');

  it('either fits the schema and maps, or does not fit: nothing is thrown', () => {
    const wild = fc
      .tuple(fc.dictionary(fc.constantFrom(...fields), values), values)
      .map(([parts, other]) => [{ ...WIRE, ...parts }, parts, other]);
    fc.assert(
      fc.property(wild, (candidates) => {
        for (const candidate of candidates) {
          const parsed = ISSUE.safeParse(candidate);
          if (!parsed.success) continue;
          const issue = toIssue(parsed.data, CONTEXT);
          expect(issue.id).toMatch(/^[1-9]\d*$/);
          expect(issue.labels.every((label) => label === label.toLowerCase())).toBe(true);
          toBlocker(parsed.data, CONTEXT);
          toParent(parsed.data);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is read by hand as by the schema, or left to it, and refused in its words', () => {
    const plain = fc.option(fc.oneof(fc.string(), fc.constant('')), { nil: null });
    const named = fc.oneof(plain, fc.record({ name: plain, login: plain }, { requiredKeys: [] }));
    const near = fc.oneof(plain, named, fc.array(named), fc.record({ total_blocked_by: fc.oneof(fc.integer(), plain) }), values);
    const ours = [...fields, 'user', 'author_association'];
    let byHand = 0;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...ours), near, { maxKeys: 3 }), (parts) => {
        const wire = { ...WIRE, ...parts };
        const full = FULL_ISSUE.safeParse(wire);
        const found = ISSUE.safeParse(wire);
        const usual = usualIssue(wire);
        if (usual !== undefined) byHand += 1;
        expect(usual ?? full.data).toEqual(full.data);
        expect(found.data).toEqual(full.data);
        const faults = ({ error }: typeof found) => error?.issues.map(({ message, path }) => [path, message]);
        expect(faults(found)).toEqual(faults(full));
      }),
      { numRuns: 1000 },
    );
    expect(byHand).toBeGreaterThan(200);
    expect(usualIssue(WIRE)).toEqual(FULL_ISSUE.parse(WIRE));
  });

  it('and likewise for comments', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('id', 'user', 'body', 'created_at'), values), (candidate) => {
        const parsed = COMMENT.safeParse(candidate);
        if (parsed.success) expect(typeof toComment(parsed.data).id).toBe('string');
      }),
    );
  });

  it('labels that cannot be read make the record unfit, since the state would be a guess', () => {
    expect(ISSUE.safeParse({ ...WIRE, labels: [7] }).success).toBe(false);
    expect(ISSUE.safeParse({ ...WIRE, labels: 'bug' }).success).toBe(false);
  });

  it('strange decorations are taken as absent', () => {
    const issue = issueFrom({ assignees: 'ann', type: 7, issue_dependencies_summary: 'none' });
    expect([issue.assignee, issue.issueType, issue.blockedBy]).toEqual(['', '', null]);
  });
});
