import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byTime, mergeabilityOf, toInlineComment, toLabelEvent, toMergeStatus, toRequestComment } from './scm-map.ts';
import { LABEL_ENTRY, PULL, REVIEW, REVIEW_COMMENT } from './scm-schema.ts';

describe('gitea mergeability', () => {
  it.each<[string, boolean | null, boolean | null, string]>([
    ['a draft', true, false, 'blocked'],
    ['a draft that says it is mergeable', true, true, 'blocked'],
    ['mergeable and no draft', false, true, 'clean'],
    ['not mergeable: a conflict or a check under way', false, false, 'unknown'],
    ['mergeable is null', false, null, 'unknown'],
    ['nothing is told', null, null, 'unknown'],
  ])('%s', (_, draft, mergeable, expected) => {
    expect(mergeabilityOf({ draft, mergeable })).toBe(expected);
  });

  it('is never dirty or unstable', () => {
    const flag = fc.constantFrom(true, false, null, undefined);
    fc.assert(
      fc.property(flag, flag, (draft, mergeable) =>
        ['clean', 'blocked', 'unknown'].includes(mergeabilityOf({ draft, mergeable })),
      ),
    );
  });
});

describe('gitea merge status', () => {
  const open = {
    state: 'open',
    draft: false,
    mergeable: true,
    merged: false,
    merge_commit_sha: null,
    html_url: 'https://h/acme/app/pulls/7',
    head: { sha: 'abc', ref: 'feat/x' },
    base: { ref: 'main' },
    labels: [{ id: 1, name: 'Foray:Fix' }, { broken: true }],
  };

  it('is filled from the pull request', () => {
    expect(toMergeStatus(PULL.parse(open))).toEqual({
      mergeability: 'clean',
      draft: false,
      merged: false,
      closed: false,
      headSha: 'abc',
      headBranch: 'feat/x',
      baseBranch: 'main',
      fork: false,
      projectId: '',
      mergeCommitSha: '',
      labels: ['foray:fix'],
      url: 'https://h/acme/app/pulls/7',
    });
  });

  it.each([
    [{ repo_id: 2 }, { repo_id: 1 }, true],
    [{ repo_id: 1, repo: { full_name: 'x/app' } }, { repo_id: 1, repo: { full_name: 'acme/app' } }, false],
    [{ repo: { full_name: 'x/app' } }, { repo: { full_name: 'acme/app' } }, true],
    [{ repo: { full_name: 'Acme/App' } }, { repo: { full_name: 'acme/app' } }, false],
    [{ repo: null }, { repo: { full_name: 'acme/app' } }, false],
  ])('from %j to %j is of a fork: %s', (head, base, fork) => {
    expect(toMergeStatus(PULL.parse({ ...open, head, base })).fork).toBe(fork);
  });

  it('merged is not closed, and only then there is a merge commit', () => {
    const merged = { ...open, state: 'closed', merged: true, merge_commit_sha: 'def' };
    expect(toMergeStatus(PULL.parse(merged))).toMatchObject({ merged: true, closed: false, mergeCommitSha: 'def' });
    const closed = { ...merged, merged: false };
    expect(toMergeStatus(PULL.parse(closed))).toMatchObject({ merged: false, closed: true, mergeCommitSha: '' });
  });

  it('nulls and missing fields are empty', () => {
    const nulls = Object.fromEntries(Object.keys(open).map((key) => [key, null]));
    for (const wire of [nulls, {}]) {
      expect(toMergeStatus(PULL.parse(wire))).toMatchObject({
        mergeability: 'unknown',
        headSha: '',
        baseBranch: '',
        fork: false,
        projectId: '',
        labels: [],
        url: '',
      });
    }
  });
});

const REVIEWED = REVIEW.parse({
  id: 5,
  user: { login: 'ann' },
  state: 'COMMENT',
  body: 'All',
  submitted_at: '2026-01-01T00:00:00Z',
});

describe('gitea review comments', () => {
  it.each<[string, number | null | undefined, number | null | undefined, number, boolean]>([
    ['an anchor that is still there', 12, 0, 12, false],
    ['an anchor that a later push removed', 0, 9, 9, true],
    ['an anchor that is gone altogether', 0, 0, 0, true],
    ['no position at all says nothing of a push', null, 9, 9, false],
    ['neither line', undefined, undefined, 0, false],
  ])('%s', (_, position, original, line, outdated) => {
    const wire = {
      id: 3,
      user: { login: 'bob' },
      body: 'b',
      path: 'a.ts',
      position,
      original_position: original,
      created_at: 'x',
    };
    expect(toInlineComment(REVIEW_COMMENT.parse(wire), REVIEWED)).toEqual({
      id: '3',
      file: 'a.ts',
      startLine: line,
      endLine: line,
      reviewer: 'bob',
      body: 'b',
      outdated,
      submittedAt: '2026-01-01T00:00:00Z',
    });
  });

  it('a comment without an author is by the reviewer', () => {
    expect(toInlineComment(REVIEW_COMMENT.parse({ id: 3, user: null }), REVIEWED).reviewer).toBe('ann');
  });

  it('a body is a comment on the request, with an id that no inline comment has', () => {
    expect(toRequestComment(REVIEWED)).toEqual({
      id: 'review-5',
      file: '',
      startLine: 0,
      endLine: 0,
      reviewer: 'ann',
      body: 'All',
      outdated: false,
      submittedAt: '2026-01-01T00:00:00Z',
    });
    expect(toRequestComment({ ...REVIEWED, body: ' \n' })).toBeNull();
    expect(toRequestComment({ ...REVIEWED, body: null })).toBeNull();
    expect(toRequestComment({ ...REVIEWED, submitted_at: 'soon' })?.submittedAt).toBe('');
  });
});

describe('gitea label events', () => {
  it.each<[string, object, object | null]>([
    ['added', { body: '1', label: { name: 'Fix' }, user: { login: 'eve' } }, { label: 'fix', added: true, actor: 'eve' }],
    ['removed', { body: '', label: { name: 'fix' }, user: null }, { label: 'fix', added: false, actor: '' }],
    ['of a deleted label', { body: '1', label: null }, null],
    ['of a label without a name', { body: '1', label: { name: '' } }, null],
  ])('%s', (_, wire, expected) => {
    const at = '2026-01-01T00:00:00Z';
    expect(toLabelEvent(LABEL_ENTRY.parse({ id: 8, ...wire }), at)).toEqual(expected && { id: '8', at, ...expected });
  });

  it('are ordered by instant, then by id as a number', () => {
    const event = (id: string, at: string) => ({ id, at, label: 'x', added: true, actor: '' });
    const events = [
      event('10', '2026-01-01T00:00:00Z'),
      event('9', '2026-01-01T00:00:00Z'),
      event('99', '2026-01-01T00:30:00+01:00'),
    ];
    expect(events.toSorted(byTime).map(({ id }) => id)).toEqual(['99', '9', '10']);
  });
});

describe('gitea wire records', () => {
  it('no record makes a mapper throw', () => {
    const wild = fc.dictionary(
      fc.constantFrom('id', 'user', 'state', 'body', 'position', 'labels', 'head', 'merged', 'label', 'comments_count', 'path'),
      fc.anything(),
    );
    fc.assert(
      fc.property(wild, (value) => {
        const pull = PULL.safeParse(value);
        if (pull.success) toMergeStatus(pull.data);
        const comment = REVIEW_COMMENT.safeParse(value);
        if (comment.success) toInlineComment(comment.data, REVIEWED);
        const review = REVIEW.safeParse(value);
        if (review.success) toRequestComment(review.data);
        const entry = LABEL_ENTRY.safeParse(value);
        if (entry.success) toLabelEvent(entry.data, '2026-01-01T00:00:00Z');
      }),
    );
  });
});
