import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../test/fakes/gitea/connect.ts';
import { REVIEW_STATES, standingRequests, verdictOf } from './scm-map.ts';
import type { WireReview } from './scm-schema.ts';
import { REVIEW } from './scm-schema.ts';

const ROUTE = '/repos/acme/app/pulls/7/reviews';
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const review = (id: number, login: string | null, state: string, changes: Record<string, unknown> = {}): WireReview =>
  REVIEW.parse({ id, user: login === null ? null : { login }, state, body: '', submitted_at: at(id), ...changes });

describe('gitea review states', () => {
  it.each([
    ['APPROVED', 'APPROVED'],
    ['PENDING', null],
    ['COMMENT', null],
    ['REQUEST_CHANGES', 'CHANGES_REQUESTED'],
    ['REQUEST_REVIEW', null],
    ['CHANGES_REQUESTED', null],
    ['constructor', null],
    ['', null],
  ])('%s decides %s', (state, expected) => {
    expect(verdictOf([review(1, 'ann', state)], ROUTE)).toBe(expected);
  });

  it('the table lists the enum of the remote', () => {
    expect(Object.keys(REVIEW_STATES)).toEqual(['APPROVED', 'PENDING', 'COMMENT', 'REQUEST_CHANGES', 'REQUEST_REVIEW']);
  });
});

describe('gitea review decision fold', () => {
  it.each<[string, WireReview[], string | null]>([
    ['no review', [], null],
    ['an approval', [review(1, 'ann', 'APPROVED')], 'APPROVED'],
    ['changes outweigh an approval', [review(1, 'ann', 'REQUEST_CHANGES'), review(2, 'bob', 'APPROVED')], 'CHANGES_REQUESTED'],
    ['a later approval supersedes', [review(1, 'ann', 'REQUEST_CHANGES'), review(2, 'ann', 'APPROVED')], 'APPROVED'],
    ['later changes supersede', [review(1, 'ann', 'APPROVED'), review(2, 'ann', 'REQUEST_CHANGES')], 'CHANGES_REQUESTED'],
    ['a later comment does not', [review(1, 'ann', 'REQUEST_CHANGES'), review(2, 'ann', 'COMMENT')], 'CHANGES_REQUESTED'],
    ['a later draft does not', [review(1, 'ann', 'APPROVED'), review(2, 'ann', 'PENDING')], 'APPROVED'],
    ['a later request does not', [review(1, 'ann', 'APPROVED'), review(2, 'ann', 'REQUEST_REVIEW')], 'APPROVED'],
    ['a dismissed one is skipped', [review(1, 'ann', 'REQUEST_CHANGES', { dismissed: true })], null],
    [
      'a dismissed approval does not supersede',
      [review(1, 'ann', 'REQUEST_CHANGES'), review(2, 'ann', 'APPROVED', { dismissed: true })],
      'CHANGES_REQUESTED',
    ],
    [
      'the time decides before the id',
      [review(9, 'ann', 'APPROVED', { submitted_at: at(1) }), review(8, 'ann', 'REQUEST_CHANGES', { submitted_at: at(2) })],
      'CHANGES_REQUESTED',
    ],
    [
      'at one time the id decides',
      [review(9, 'ann', 'APPROVED', { submitted_at: at(1) }), review(8, 'ann', 'REQUEST_CHANGES', { submitted_at: at(1) })],
      'APPROVED',
    ],
    [
      'times are compared as instants, whatever their offset',
      [
        review(1, 'ann', 'APPROVED', { submitted_at: '2026-01-01T01:30:00+02:00' }),
        review(2, 'ann', 'REQUEST_CHANGES', { submitted_at: '2026-01-01T00:00:00Z' }),
      ],
      'CHANGES_REQUESTED',
    ],
    ['one person in two spellings', [review(1, 'Ann', 'REQUEST_CHANGES'), review(2, 'ann', 'APPROVED')], 'APPROVED'],
    [
      'a deleted account cannot be superseded',
      [review(1, null, 'REQUEST_CHANGES'), review(2, null, 'APPROVED')],
      'CHANGES_REQUESTED',
    ],
  ])('%s', (_, reviews, expected) => {
    expect(verdictOf(reviews, ROUTE)).toBe(expected);
    expect(verdictOf(reviews.toReversed(), ROUTE)).toBe(expected);
  });

  it.each(['APPROVED', 'REQUEST_CHANGES'])('a time of a %s review that is not RFC 3339 fails the read', async (state) => {
    for (const time of ['yesterday', '', null, undefined, 5, '2026-02-30T00:00:00Z']) {
      const error = await failureOf(() => verdictOf([review(4, 'ann', state, { submitted_at: time })], ROUTE));
      expect(error.kind).toBe('tracker_payload_error');
      expect(error.message).toContain(`GET ${ROUTE}: review 4 has a submitted_at that is no RFC 3339 time`);
    }
  });

  it.each(['COMMENT', 'PENDING', 'REQUEST_REVIEW', 'NEWS'])('of a %s review it does not, nor of a dismissed one', (state) => {
    const reviews = [
      review(1, 'ann', 'APPROVED'),
      review(2, 'ann', state, { submitted_at: 'yesterday' }),
      review(3, 'ann', 'REQUEST_CHANGES', { submitted_at: 'yesterday', dismissed: true }),
    ];
    expect(verdictOf(reviews, ROUTE)).toBe('APPROVED');
  });

  it('neither the order of the list nor a review that decides nothing changes the verdict', () => {
    const one = fc.record({
      id: fc.integer({ min: 1, max: 1000 }),
      login: fc.constantFrom('ann', 'bob', 'eve'),
      state: fc.constantFrom('APPROVED', 'REQUEST_CHANGES', 'COMMENT', 'PENDING'),
      minute: fc.integer({ min: 0, max: 59 }),
      dismissed: fc.boolean(),
    });
    const many = fc.uniqueArray(one, { selector: ({ id }) => id, maxLength: 12 });
    fc.assert(
      fc.property(many, fc.integer(), (given, seed) => {
        const reviews = given.map(({ id, login, state, minute, dismissed }) =>
          review(id, login, state, { dismissed, submitted_at: at(minute) }),
        );
        const shuffled = reviews.toSorted((a, b) => ((a.id * 7919 + seed) % 101) - ((b.id * 7919 + seed) % 101));
        const deciding = reviews.filter(
          ({ state, dismissed }) => !dismissed && (state === 'APPROVED' || state === 'REQUEST_CHANGES'),
        );
        const verdict = verdictOf(reviews, ROUTE);
        expect(verdictOf(shuffled, ROUTE)).toBe(verdict);
        expect(verdictOf(deciding, ROUTE)).toBe(verdict);
        // Changes are requested exactly where a request stands.
        expect(standingRequests(reviews, ROUTE).length > 0).toBe(verdict === 'CHANGES_REQUESTED');
      }),
    );
  });
});

describe('gitea standing change requests', () => {
  const ids = (...reviews: WireReview[]) => standingRequests(reviews, ROUTE).map(({ id }) => id);

  it('are all of a reviewer since the last approval, oldest first', () => {
    expect(
      ids(
        review(5, 'ann', 'REQUEST_CHANGES'),
        review(4, 'ann', 'REQUEST_CHANGES'),
        review(3, 'ann', 'APPROVED'),
        review(2, 'ann', 'REQUEST_CHANGES'),
        review(1, 'bob', 'REQUEST_CHANGES'),
      ),
    ).toEqual([1, 4, 5]);
  });

  it('do without a time where there is no approval to compare with', async () => {
    expect(ids(review(1, 'ann', 'REQUEST_CHANGES', { submitted_at: null }), review(2, 'bob', 'APPROVED'))).toEqual([1]);
    const mixed = [review(1, 'ann', 'REQUEST_CHANGES', { submitted_at: null }), review(2, 'ann', 'APPROVED')];
    expect((await failureOf(() => standingRequests(mixed, ROUTE))).kind).toBe('tracker_payload_error');
  });

  it('fail where a time is there and cannot be read', async () => {
    const bad = [review(1, 'ann', 'REQUEST_CHANGES', { submitted_at: 'soon' })];
    expect((await failureOf(() => standingRequests(bad, ROUTE))).kind).toBe('tracker_payload_error');
  });
});
