import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mergeability, ReviewDecision } from '../../ports/scm.ts';
import {
  decisionOf,
  DOCUMENTED_BLOCKERS,
  MERGEABILITY,
  mergeabilityOf,
  mergeCommitOf,
  toLabelEvents,
  toMergeStatus,
  toReviewComment,
} from './scm-map.ts';
import type { WireLabelEvent, WirePosition } from './scm-schema.ts';
import { MERGE_REQUEST, REVIEW_NOTE } from './scm-schema.ts';

describe('mergeability', () => {
  it.each<[string, Mergeability]>([
    ['mergeable', 'clean'],
    ['conflict', 'dirty'],
    ['unchecked', 'unknown'],
    ['checking', 'unknown'],
    ['preparing', 'unknown'],
    ['approvals_syncing', 'unknown'],
  ])('%s is %s', (status, mergeability) => {
    expect(mergeabilityOf(status)).toEqual({ mergeability, recognized: true });
    expect(toMergeStatus({ detailed_merge_status: status }).mergeability).toBe(mergeability);
  });

  it.each([...DOCUMENTED_BLOCKERS])('%s is blocked, and known', (status) => {
    expect(mergeabilityOf(status)).toEqual({ mergeability: 'blocked', recognized: true });
  });

  it.each(['', 'Mergeable', 'constructor', '__proto__', 'something_new'])(
    'any other value (%j) is blocked, and not known',
    (status) => {
      expect(mergeabilityOf(status)).toEqual({ mergeability: 'blocked', recognized: false });
    },
  );

  it('is the word alone, also where a conflict stands behind another obstacle', () => {
    const wire = MERGE_REQUEST.parse({ detailed_merge_status: 'not_approved', has_conflicts: true });
    expect(toMergeStatus(wire).mergeability).toBe('blocked');
  });

  it('is never unstable, and clean for one word only', () => {
    expect([...MERGEABILITY.values()]).not.toContain('unstable');
    fc.assert(
      fc.property(fc.string(), (status) => {
        fc.pre(status !== 'mergeable');
        expect(['dirty', 'unknown', 'blocked']).toContain(mergeabilityOf(status).mergeability);
      }),
    );
  });
});

describe('the merge request', () => {
  it('fills every field', () => {
    const wire = {
      state: 'opened',
      detailed_merge_status: 'mergeable',
      draft: true,
      sha: 'abc',
      source_branch: 'feature',
      target_branch: 'main',
      labels: ['Bug', 'UI'],
      web_url: 'https://gitlab.example.com/x/-/merge_requests/1',
    };
    expect(toMergeStatus(wire)).toEqual({
      mergeability: 'clean',
      draft: true,
      merged: false,
      closed: false,
      headSha: 'abc',
      headBranch: 'feature',
      baseBranch: 'main',
      fork: false,
      projectId: expect.any(String),
      mergeCommitSha: '',
      labels: ['bug', 'ui'],
      url: 'https://gitlab.example.com/x/-/merge_requests/1',
    });
  });

  it.each([
    ['opened', { merged: false, closed: false }],
    ['closed', { merged: false, closed: true }],
    ['merged', { merged: true, closed: false }],
    ['locked', { merged: false, closed: false }],
    [undefined, { merged: false, closed: false }],
  ])('state %s', (state, expected) => {
    expect(toMergeStatus({ state })).toMatchObject(expected);
  });

  it('is a draft by the older mark too', () => {
    expect(toMergeStatus({ work_in_progress: true }).draft).toBe(true);
    expect(toMergeStatus({ draft: false, work_in_progress: true }).draft).toBe(false);
  });

  it.each([
    ['merge commit', { state: 'merged', merge_commit_sha: 'm', squash_commit_sha: 's', sha: 'h' }, 'm'],
    ['squashed and fast-forwarded', { state: 'merged', merge_commit_sha: null, squash_commit_sha: 's', sha: 'h' }, 's'],
    ['fast-forwarded', { state: 'merged', merge_commit_sha: null, squash_commit_sha: null, sha: 'h' }, 'h'],
    ['not merged', { state: 'opened', merge_commit_sha: 'm', sha: 'h' }, ''],
    ['nothing told', { state: 'merged' }, ''],
  ])('what landed: %s', (_, wire, sha) => {
    expect(mergeCommitOf(wire)).toBe(sha);
  });

  it('is refused by the schema or mapped without a throw', () => {
    fc.assert(
      fc.property(fc.record({ state: fc.anything(), sha: fc.anything(), labels: fc.anything() }), (value) => {
        const parsed = MERGE_REQUEST.safeParse(value);
        if (parsed.success) expect(toMergeStatus(parsed.data).mergeability).toBe('blocked');
      }),
    );
  });
});

describe('review decision, in the order of the fold', () => {
  const changes = { state: 'requested_changes' };
  const other = { state: 'unreviewed' };
  it.each<[string, { state: string | null }[], boolean, ReviewDecision]>([
    ['(1) requested changes', [other, changes], false, 'CHANGES_REQUESTED'],
    ['(1) a later approval never clears it', [changes, { state: 'approved' }], true, 'CHANGES_REQUESTED'],
    ['(2) approved', [other], true, 'APPROVED'],
    ['(2) approved by one who is no reviewer', [], true, 'APPROVED'],
    ['(3) a reviewer', [other], false, 'REVIEW_REQUIRED'],
    ['(3) a reviewer who approved does not count by his own state', [{ state: 'approved' }], false, 'REVIEW_REQUIRED'],
    ['(3) a reviewer in an unknown state', [{ state: null }], false, 'REVIEW_REQUIRED'],
    ['(4) nobody', [], false, 'NOT_REQUIRED'],
  ])('%s', (_, reviewers, approved, decision) => {
    expect(decisionOf(reviewers, approved)).toBe(decision);
  });

  it('does not depend on the order of reviewers, and one request for changes is enough', () => {
    const states = fc.array(fc.constantFrom('unreviewed', 'approved', 'reviewed', 'requested_changes', 'x'));
    fc.assert(
      fc.property(states, fc.boolean(), (all, approved) => {
        const decide = (list: string[]) =>
          decisionOf(
            list.map((state) => ({ state })),
            approved,
          );
        expect(decide(all)).toBe(decide(all.toReversed()));
        expect(decide([...all, 'requested_changes'])).toBe('CHANGES_REQUESTED');
      }),
    );
  });
});

describe('review comments', () => {
  const note = { id: 7, body: 'No.', author: { id: 3, username: 'bob' }, created_at: '2026-03-01T08:00:00.000Z' };
  const position = { head_sha: 'ABC', new_path: 'a.ts', old_path: 'b.ts', new_line: 9, old_line: null };

  it('on the request as a whole', () => {
    expect(toReviewComment(note, '')).toEqual({
      id: '7',
      file: '',
      startLine: 0,
      endLine: 0,
      reviewer: 'bob',
      body: 'No.',
      outdated: false,
      submittedAt: '2026-03-01T08:00:00.000Z',
    });
  });

  it.each<[string, WirePosition, [string, number, number]]>([
    ['one line', position, ['a.ts', 9, 9]],
    ['several lines', { ...position, line_range: { start: { new_line: 4, old_line: 2 } } }, ['a.ts', 4, 9]],
    ['a removed line', { ...position, new_line: null, old_line: 5 }, ['a.ts', 5, 5]],
    [
      'removed lines',
      { ...position, new_line: null, old_line: 5, line_range: { start: { new_line: 1, old_line: 3 } } },
      ['a.ts', 3, 5],
    ],
    ['from a removed line on', { ...position, line_range: { start: { new_line: null, old_line: 3 } } }, ['a.ts', 9, 9]],
    ['a range the wrong way round', { ...position, line_range: { start: { new_line: 12, old_line: 3 } } }, ['a.ts', 9, 9]],
    ['a whole file', { ...position, new_line: null }, ['a.ts', 0, 0]],
    ['a deleted file', { ...position, new_path: null, new_line: null, old_line: 1 }, ['b.ts', 1, 1]],
  ])('on %s', (_, where, [file, startLine, endLine]) => {
    expect(toReviewComment({ ...note, position: where }, 'abc')).toMatchObject({ file, startLine, endLine });
  });

  it.each([
    ['of the head', 'ABC', 'abc', false],
    ['of another commit', 'ABC', 'def', true],
    ['without a recorded commit', '', 'def', false],
    ['with an unknown head', 'ABC', '', false],
  ])('outdated: %s', (_, recorded, head, outdated) => {
    expect(toReviewComment({ ...note, position: { ...position, head_sha: recorded } }, head).outdated).toBe(outdated);
  });

  it('a time that cannot be read counts as none', () => {
    expect(toReviewComment({ ...note, created_at: 'yesterday' }, '').submittedAt).toBe('');
    expect(toReviewComment({ ...note, created_at: null }, '').submittedAt).toBe('');
  });

  it('is refused by the schema or mapped to lines in order', () => {
    const line = fc.option(fc.integer());
    const wild = fc.record({
      id: fc.integer(),
      position: fc.record({
        new_line: line,
        old_line: line,
        line_range: fc.option(fc.record({ start: fc.record({ new_line: line, old_line: line }) })),
      }),
    });
    fc.assert(
      fc.property(wild, (value) => {
        const { startLine, endLine } = toReviewComment(REVIEW_NOTE.parse(value), 'abc');
        expect(startLine).toBeLessThanOrEqual(endLine);
      }),
    );
  });

  it('a position that cannot be read leaves the comment', () => {
    expect(toReviewComment(REVIEW_NOTE.parse({ id: 1, body: 'x', position: 'line 3' }), 'abc')).toMatchObject({
      body: 'x',
      file: '',
    });
  });
});

describe('label events', () => {
  const event = (id: number, over: Partial<WireLabelEvent> = {}): WireLabelEvent => ({
    id,
    action: 'add',
    created_at: '2026-03-01T08:00:00.000Z',
    user: { id: 3, username: 'bob' },
    label: { name: 'Foray:Fix' },
    ...over,
  });

  it('carry a lowercased label, who and when', () => {
    expect(toLabelEvents([event(5), event(6, { action: 'remove', user: null })])).toEqual([
      { id: '5', label: 'foray:fix', added: true, actor: 'bob', at: '2026-03-01T08:00:00.000Z' },
      { id: '6', label: 'foray:fix', added: false, actor: '', at: '2026-03-01T08:00:00.000Z' },
    ]);
  });

  it.each([
    ['a deleted label', { label: null }],
    ['a label without a name', { label: { name: '' } }],
    ['an action that is neither', { action: 'rename' }],
  ])('%s is skipped, its time unread', (_, over) => {
    expect(toLabelEvents([event(1, { ...over, created_at: 'soon' })])).toEqual([]);
  });

  it('are sorted by time across zones, then by id as a number', () => {
    const events = toLabelEvents([
      event(10, { created_at: '2026-03-01T08:00:00Z' }),
      event(9, { created_at: '2026-03-01T09:00:00.000+01:00' }),
      event(1, { created_at: '2026-03-01T08:00:00.001Z' }),
    ]);
    expect('unreadable' in events ? [] : events.map(({ id }) => id)).toEqual(['9', '10', '1']);
  });

  it.each(['', null, 'yesterday', '2026-03-01', '2026-13-01T00:00:00Z', '1772352000', '2026-03-01T08:00:00'])(
    'an unreadable time (%j) is told, never guessed',
    (created_at) => {
      expect(toLabelEvents([event(1), event(2, { created_at })])).toMatchObject({ unreadable: { id: 2 } });
    },
  );

  it('keep every readable event, whatever the order they came in', () => {
    const moment = fc.integer({ min: 0, max: 4e12 }).map((time) => new Date(time).toISOString());
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat()), fc.array(moment, { minLength: 1 }), (ids, times) => {
        const wires = ids.map((id, index) => event(id, { created_at: times[index % times.length] }));
        const events = toLabelEvents(wires);
        expect(events).toHaveLength(ids.length);
        expect(toLabelEvents(wires.toReversed())).toEqual(events);
      }),
    );
  });
});
