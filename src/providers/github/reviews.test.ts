import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrackerError } from '../../domain/model/errors.ts';
import type { ReviewDecision } from '../../ports/scm.ts';
import {
  botComments,
  foldDecision,
  isBot,
  isTrustedReviewer,
  toLabelEvents,
  objections,
  reviewComments,
  standingReviews,
} from './scm-map.ts';
import { LABEL_EVENT, PULL, type WireReview, REVIEW, type WireReviewComment, REVIEW_COMMENT } from './scm-schema.ts';

const pull = (parts: object = {}) => PULL.parse({ number: 1, head: { ref: 'f', sha: 's' }, base: { ref: 'main' }, ...parts });

let ids = 0;
function review(state: string, login: string | null = 'rita', parts: object = {}): WireReview {
  ids += 1;
  const user = login === null ? null : { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' };
  const submitted_at = new Date(Date.UTC(2026, 0, 1) + ids * 1_000).toISOString();
  return REVIEW.parse({ id: ids, user, state, body: `says ${state}`, submitted_at, ...parts });
}

function comment(parts: object = {}): WireReviewComment {
  const user = { login: 'rita', type: 'User' };
  return REVIEW_COMMENT.parse({
    id: 900,
    user,
    body: 'Look',
    path: 'a.ts',
    line: 5,
    created_at: '2026-01-01T00:00:00Z',
    ...parts,
  });
}

/** One case each: the reviews in order, and what they amount to. */
function cases<T>(rows: readonly [string, () => readonly WireReview[], T][]) {
  return rows.map(([name, make, expected]) => {
    ids = 0;
    return [name, make(), expected] as const;
  });
}

describe('the decision where the remote makes none', () => {
  it.each(
    cases<ReviewDecision>([
      ['nobody said anything', () => [], 'NOT_REQUIRED'],
      ['somebody approves', () => [review('APPROVED')], 'APPROVED'],
      ['somebody objects', () => [review('CHANGES_REQUESTED')], 'CHANGES_REQUESTED'],
      ['somebody objects, another approves', () => [review('CHANGES_REQUESTED'), review('APPROVED', 'bob')], 'CHANGES_REQUESTED'],
      ['an objection is taken back', () => [review('CHANGES_REQUESTED'), review('APPROVED')], 'APPROVED'],
      ['an approval is taken back', () => [review('APPROVED'), review('CHANGES_REQUESTED')], 'CHANGES_REQUESTED'],
      ['a comment takes nothing back', () => [review('CHANGES_REQUESTED'), review('COMMENTED')], 'CHANGES_REQUESTED'],
      [
        'a draft takes nothing back',
        () => [review('CHANGES_REQUESTED'), review('PENDING', 'rita', { submitted_at: null })],
        'CHANGES_REQUESTED',
      ],
      ['an objection is dismissed', () => [review('DISMISSED')], 'NOT_REQUIRED'],
      ['the last of two objections is dismissed', () => [review('CHANGES_REQUESTED'), review('DISMISSED')], 'NOT_REQUIRED'],
      ['one name in two spellings', () => [review('CHANGES_REQUESTED', 'Rita'), review('APPROVED', 'rita')], 'APPROVED'],
      ['a bot objects', () => [review('CHANGES_REQUESTED', 'lint[bot]')], 'CHANGES_REQUESTED'],
      ['two accounts that are gone', () => [review('CHANGES_REQUESTED', null), review('APPROVED', null)], 'CHANGES_REQUESTED'],
      ['a word nobody knows', () => [review('SHRUGGED')], 'NOT_REQUIRED'],
    ]),
  )('%s', (_, reviews, expected) => {
    expect(foldDecision('', pull(), reviews, { votes: 'anyone', own: '' })).toBe(expected);
  });

  it.each<[string, object, ReviewDecision]>([
    ['a person', { requested_reviewers: [{ login: 'bob' }] }, 'REVIEW_REQUIRED'],
    ['a team', { requested_teams: [{ name: 'core' }] }, 'REVIEW_REQUIRED'],
    ['nobody', { requested_reviewers: [], requested_teams: [] }, 'APPROVED'],
  ])('waits while %s is asked', (_, parts, expected) => {
    expect(foldDecision('', pull(parts), [review('APPROVED')], { votes: 'anyone', own: '' })).toBe(expected);
    expect(foldDecision('', pull(parts), [review('CHANGES_REQUESTED', 'eve')], { votes: 'anyone', own: '' })).toBe(
      'CHANGES_REQUESTED',
    );
  });

  it('goes by time and then by number, not by the order of the list', () => {
    const at = '2026-01-01T10:00:00Z';
    const early = review('CHANGES_REQUESTED', 'rita', { id: 99, submitted_at: at });
    const late = review('APPROVED', 'rita', { id: 100, submitted_at: at });
    expect(foldDecision('', pull(), [late, early], { votes: 'anyone', own: '' })).toBe('APPROVED');
    const other = review('CHANGES_REQUESTED', 'rita', { id: 1, submitted_at: '2026-01-01T12:00:00+01:00' });
    expect(foldDecision('', pull(), [other, late], { votes: 'anyone', own: '' })).toBe('CHANGES_REQUESTED');
  });

  it('is never better than an objection that stands, however the reviews are mixed', () => {
    const one = fc.record({
      login: fc.constantFrom('a', 'b', 'c'),
      state: fc.constantFrom('APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED', 'PENDING'),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), fc.array(fc.nat()), (said, shuffle) => {
        const reviews = said.map(({ login, state }, index) =>
          review(state, login, { id: index + 1, submitted_at: new Date(index * 1000).toISOString() }),
        );
        const last = new Map(
          said.filter(({ state }) => !['COMMENTED', 'PENDING'].includes(state)).map(({ login, state }) => [login, state]),
        );
        const mixed = reviews.toSorted((a, b) => (shuffle[Number(a.id)] ?? 0) - (shuffle[Number(b.id)] ?? 0));
        const objects = [...last.values()].includes('CHANGES_REQUESTED');
        return (foldDecision('', pull(), mixed, { votes: 'anyone', own: '' }) === 'CHANGES_REQUESTED') === objects;
      }),
    );
  });
});

describe('whose word counts', () => {
  it.each<[object, boolean]>([
    [{ author_association: 'OWNER' }, true],
    [{ author_association: 'member' }, true],
    [{ author_association: 'COLLABORATOR' }, true],
    [{}, true],
    [{ author_association: 'CONTRIBUTOR' }, false],
    [{ author_association: 'NONE' }, false],
    [{ author_association: '' }, false],
    [{ author_association: null }, false],
  ])('%j: %s', (parts, expected) => {
    const approval = review('APPROVED', 'rita', parts);
    expect(isTrustedReviewer(approval, 'collaborators')).toBe(expected);
    expect(isTrustedReviewer(comment(parts), 'collaborators')).toBe(expected);
    expect(isTrustedReviewer(approval, 'anyone')).toBe(true);
    expect(foldDecision('', pull(), [approval], { votes: 'collaborators', own: '' })).toBe(
      expected ? 'APPROVED' : 'NOT_REQUIRED',
    );
  });
});

describe('times', () => {
  it.each(['', 'yesterday', '2026-01-01', '2026-01-01 10:00:00Z', '2026-13-01T00:00:00Z', '0'])('%j fails the read', (value) => {
    expect(() => standingReviews([review('APPROVED', 'rita', { submitted_at: value })])).toThrow(TrackerError);
  });

  it('of reviews that decide nothing are not looked at', () => {
    const odd = { submitted_at: 'yesterday' };
    expect(standingReviews([review('COMMENTED', 'rita', odd), review('PENDING', 'rita', odd)])).toEqual([]);
  });
});

describe('who is a bot', () => {
  it.each<[object | null, boolean]>([
    [{ login: 'rita', type: 'User' }, false],
    [{ login: 'lint[bot]', type: 'User' }, false],
    [{ login: 'lint[bot]' }, true],
    [{ login: 'Copilot', type: 'Bot' }, true],
    [{ login: 'robot', type: 'Organization' }, false],
    [null, false],
  ])('%j: %s', (user, expected) => {
    expect(isBot(REVIEW.parse({ id: 1, user }).user)).toBe(expected);
  });
});

describe('objections', () => {
  it('are those of people that stand, with their own words and their comments on lines', () => {
    const last = review('CHANGES_REQUESTED');
    const silent = review('CHANGES_REQUESTED', 'bob', { body: ' ' });
    const bot = review('CHANGES_REQUESTED', 'lint[bot]');
    const found = objections([last, silent, bot, review('APPROVED', 'eve')]);
    expect(found.map(({ id }) => id)).toEqual([last.id, silent.id]);
    const comments = [
      comment({ id: 901, pull_request_review_id: Number(silent.id) }),
      comment({ id: 902, pull_request_review_id: 4711 }),
    ];
    expect(reviewComments(found, comments)).toEqual([
      {
        id: `review-${last.id}`,
        file: '',
        startLine: 0,
        endLine: 0,
        reviewer: 'rita',
        body: 'says CHANGES_REQUESTED',
        outdated: false,
        submittedAt: last.submitted_at,
      },
      {
        id: '901',
        file: 'a.ts',
        startLine: 5,
        endLine: 5,
        reviewer: 'rita',
        body: 'Look',
        outdated: false,
        submittedAt: silent.submitted_at,
      },
    ]);
  });
});

describe('what remains of several reviews by one person', () => {
  /** The reviews in order, each with a text and a comment on a line, and what of them is heard. */
  it.each<[readonly string[], readonly string[]]>([
    [
      ['CHANGES_REQUESTED', 'CHANGES_REQUESTED'],
      ['text 0', 'line 0', 'text 1', 'line 1'],
    ],
    [
      ['CHANGES_REQUESTED', 'COMMENTED'],
      ['text 0', 'line 0', 'text 1', 'line 1'],
    ],
    [
      ['COMMENTED', 'CHANGES_REQUESTED'],
      ['line 0', 'text 1', 'line 1'],
    ],
    [
      ['CHANGES_REQUESTED', 'APPROVED', 'CHANGES_REQUESTED'],
      ['line 0', 'line 1', 'text 2', 'line 2'],
    ],
    [
      ['CHANGES_REQUESTED', 'DISMISSED', 'CHANGES_REQUESTED'],
      ['line 0', 'text 2', 'line 2'],
    ],
    [
      ['CHANGES_REQUESTED', 'PENDING'],
      ['text 0', 'line 0'],
    ],
    [['CHANGES_REQUESTED', 'APPROVED', 'COMMENTED'], []],
    [['CHANGES_REQUESTED', 'DISMISSED'], []],
    [['COMMENTED'], []],
  ])('%j: %j', (states, expected) => {
    const reviews = states.map((state, place) => review(state, 'rita', { body: `text ${place}` }));
    const comments = reviews.map(({ id }, place) =>
      comment({ id: 900 + place, pull_request_review_id: Number(id), body: `line ${place}` }),
    );
    expect(reviewComments(objections(reviews), comments).map(({ body }) => body)).toEqual(expected);
  });

  it('a comment of somebody who takes no stand is not among it', () => {
    const reviews = [review('CHANGES_REQUESTED', 'rita'), review('COMMENTED', 'bob')];
    expect(objections(reviews).map(({ user }) => user?.login)).toEqual(['rita']);
  });
});

describe('the lines of a comment', () => {
  it.each<[string, object, [number, number, boolean]]>([
    ['one line', { line: 5, position: 2 }, [5, 5, false]],
    ['several lines', { line: 9, start_line: 5, original_line: 3, original_start_line: 1 }, [5, 9, false]],
    ['a line that is gone', { line: null, position: null, original_line: 8 }, [8, 8, true]],
    ['a range that is gone', { line: null, original_line: 8, original_start_line: 4 }, [4, 8, true]],
    ['fields left out', { line: undefined }, [0, 0, true]],
    ['a position without a line', { line: null, position: 3, original_line: 8 }, [8, 8, false]],
    ['a whole file', { line: null, subject_type: 'file' }, [0, 0, false]],
    ['ends on both sides of the diff', { line: 4, start_line: 10 }, [4, 4, false]],
    ['nonsense', { line: -3, original_line: 'x' }, [0, 0, true]],
  ])('%s', (_, parts, expected) => {
    const [mapped] = reviewComments([REVIEW.parse({ id: 1 })], [comment({ pull_request_review_id: 1, ...parts })]);
    expect([mapped?.startLine, mapped?.endLine, mapped?.outdated]).toEqual(expected);
  });

  it('are in order, whatever the remote sends', () => {
    const some = fc.option(fc.integer({ min: -5, max: 50 }), { nil: null });
    const parts = fc.record({ line: some, start_line: some, original_line: some, original_start_line: some, position: some });
    fc.assert(
      fc.property(parts, (lines) => {
        const [mapped] = reviewComments([REVIEW.parse({ id: 1 })], [comment({ pull_request_review_id: 1, ...lines })]);
        return mapped !== undefined && mapped.startLine >= 0 && mapped.startLine <= mapped.endLine;
      }),
    );
  });
});

describe('comments of bots', () => {
  const bot = { login: 'lint[bot]', type: 'Bot' };

  it('are those of platform bots and of the listed names, ignoring case and stand', () => {
    const reviews = [review('COMMENTED', 'lint[bot]'), review('APPROVED', 'Robo'), review('CHANGES_REQUESTED', 'rita')];
    const comments = [comment({ id: 1, user: bot }), comment({ id: 2, user: { login: 'ROBO' } }), comment({ id: 3 })];
    expect(botComments(reviews, comments, ['robo']).map(({ id }) => id)).toEqual([
      `review-${reviews[0]?.id}`,
      `review-${reviews[1]?.id}`,
      '1',
      '2',
    ]);
    expect(botComments(reviews, comments, []).map(({ id }) => id)).toEqual([`review-${reviews[0]?.id}`, '1']);
  });

  it.each(['DISMISSED', 'PENDING'])('leave out what is %s', (state) => {
    const own = review(state, 'lint[bot]');
    expect(botComments([own], [comment({ user: bot, pull_request_review_id: Number(own.id) })], [])).toEqual([]);
  });

  it('never take an account without a name for a listed one', () => {
    expect(botComments([review('COMMENTED', null)], [comment({ user: null })], ['robo'])).toEqual([]);
  });

  it('stand without a review as well', () => {
    const [own] = botComments([], [comment({ user: bot, pull_request_review_id: null })], []);
    expect(own).toMatchObject({ id: '900', submittedAt: '2026-01-01T00:00:00Z' });
  });
});

describe('label events', () => {
  const event = (parts: object) =>
    LABEL_EVENT.parse({
      id: 5,
      event: 'labeled',
      label: { name: 'Fix' },
      actor: { login: 'ann' },
      created_at: '2026-01-01T00:00:00Z',
      ...parts,
    });

  it('are the additions and removals, ascending by time and then by number, each once', () => {
    const events = [
      event({ id: 10, event: 'unlabeled', created_at: '2026-01-01T00:00:05Z' }),
      event({ id: 10, event: 'unlabeled', created_at: '2026-01-01T00:00:05Z' }),
      event({ id: 9, created_at: '2026-01-01T00:00:05Z', actor: null }),
      event({ id: 30, event: 'closed', label: undefined, created_at: 'never' }),
      event({ id: 7, created_at: '2026-01-01T02:00:00+02:00' }),
      event({ id: 8, label: null, created_at: 'never' }),
      event({ id: 11, label: { name: null } }),
    ];
    expect(toLabelEvents(events)).toEqual([
      { id: '7', label: 'fix', added: true, actor: 'ann', at: '2026-01-01T02:00:00+02:00' },
      { id: '9', label: 'fix', added: true, actor: '', at: '2026-01-01T00:00:05Z' },
      { id: '10', label: 'fix', added: false, actor: 'ann', at: '2026-01-01T00:00:05Z' },
    ]);
  });

  it('with a time that cannot be read fail the read', () => {
    expect(() => toLabelEvents([event({ created_at: null })])).toThrow(/event 5: its time "" cannot be read/);
  });
});
