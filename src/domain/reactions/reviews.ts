import { announce, type Draft } from '../draft.ts';
import type { Answer } from '../model/fault.ts';
import type { ReviewComment } from '../model/merge-request.ts';
import type { ValueOf } from '../model/data-shape.ts';
import type { ReactionContext, ReactionMarks } from '../model/reaction.ts';
import type { Watch } from '../model/watch.ts';
import { couldNotRead, isOwnAccount, progressOf, putProgress, waitFor, whySelfUnknown } from './progress.ts';
import { DAY_MS, type Declaration, type Look, type Reaction } from './reaction.ts';
import { outOfTurns, queueTurn } from './turns.ts';

/** The ids of the comments that a run was given. */
const MARKS = { given: { comments: ['text'] } } as const;

const COMMENTS = [
  {
    id: 'text',
    // Empty for a comment on the request as a whole.
    file: 'text',
    // Null where the comment has no place in the file.
    startLine: 'number or null',
    endLine: 'number or null',
    reviewer: 'text',
    body: 'text',
  },
] as const;

export type ReviewCommentContext = ValueOf<(typeof COMMENTS)[0]>;

const reviewComments = {
  kind: 'review_comments',
  about: 'Have the agent answer the change requests of reviewers.',
  defaults: { pollIntervalMs: 120_000, watchWindowMs: 7 * DAY_MS, budget: 3, budgetKey: 'max_continuation_turns' },
  keys: {
    trust: {
      type: 'trust',
      about: 'Whose reviews start a turn, enter a prompt and count for or against a merge. By default that of the provider.',
    },
    debounce_ms: {
      type: 'milliseconds',
      min: 0,
      default: 60_000,
      about: 'Quiet time after the newest comment before the agent starts.',
    },
  },
  marks: MARKS,
  prompt: {
    variable: 'review_comments',
    shape: COMMENTS,
    paragraph:
      'A reviewer asked for changes. The comments as JSON data: {{ .review_comments | toJSON }}. Address each one, commit and push to the same branch.',
  },
} as const satisfies Declaration;

export const REVIEW_COMMENTS: Reaction<typeof reviewComments> = {
  ...reviewComments,
  needs: () => ['reviews', 'self'],
  judge: judgeReviews,
  renew: (draft, watch, look, { reviewComments: queued }) =>
    stillHeard(heardPeople(draft, look), watch, 'review_comments', queued),
  onTurnBegun: (draft, watch, { reviewComments: begun }) => noteGiven(draft, watch, 'review_comments', begun),
  onTurnParked: (mark, { reviewComments: begun }) => withoutThose(mark, begun),
  keepsMark: true,
};

const botReview = {
  kind: 'bot_review',
  about: 'Have the agent answer the comments of review bots.',
  defaults: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 5, budgetKey: 'max_continuation_turns' },
  keys: {
    bot_usernames: { type: 'texts', default: [], inBlock: true, about: 'Accounts whose reviews count as those of a bot.' },
    trust: { type: 'trust', about: 'Whose comments count. Bots, apps and the accounts of `bot_usernames` always do.' },
  },
  marks: MARKS,
  prompt: {
    variable: 'bot_review_comments',
    shape: COMMENTS,
    paragraph:
      'A review bot left findings. They are JSON data: {{ .bot_review_comments | toJSON }}. Address those that are right, commit and push to the same branch.',
  },
} as const satisfies Declaration;

export const BOT_REVIEW: Reaction<typeof botReview> = {
  ...botReview,
  needs: () => ['botReviews', 'self'],
  judge: judgeBotReviews,
  renew: (draft, watch, look, { botReviewComments: queued }) => stillHeard(heardBots(draft, look), watch, 'bot_review', queued),
  onTurnBegun: (draft, watch, { botReviewComments: begun }) => noteGiven(draft, watch, 'bot_review', begun),
  onTurnParked: (mark, { botReviewComments: begun }) => withoutThose(mark, begun),
  keepsMark: true,
};

type CommentKind = 'review_comments' | 'bot_review';

/** People's change requests. A turn starts only for a comment that no earlier run was given, and carries all that remain. */
function judgeReviews(draft: Draft, watch: Watch, look: Look): void {
  const settings = draft.state.settings.reactions.on.review_comments;
  const heard = heardPeople(draft, look);
  if (!settings || !heard) return;
  if (!heard.ok) return couldNotRead(draft, watch, 'review_comments', heard.fault);
  const remaining = heard.value.filter(({ outdated }) => !outdated);
  const settledAt = settlingTime(draft.now, watch, remaining) + settings.debounceMs;
  if (hasNew(watch, 'review_comments', remaining) && settledAt > draft.now) {
    return waitFor(draft, watch, 'review_comments', TO_FINISH, { nextAt: settledAt });
  }
  judge(draft, watch, 'review_comments', remaining, settings.budget);
}

/** Findings of review bots. */
function judgeBotReviews(draft: Draft, watch: Watch, look: Look): void {
  const settings = draft.state.settings.reactions.on.bot_review;
  const heard = heardBots(draft, look);
  if (!settings || !heard) return;
  if (!heard.ok) return couldNotRead(draft, watch, 'bot_review', heard.fault);
  const remaining = heard.value.filter(({ outdated }) => !outdated);
  judge(draft, watch, 'bot_review', remaining, settings.budget);
}

type Heard = Answer<readonly ReviewComment[]> | undefined;

/** What people said whose word counts. Until it is known who we are nobody is heard. */
function heardPeople(draft: Draft, { findings: { reviews, self } }: Look): Heard {
  if (!reviews?.ok) return reviews;
  if (self?.ok === false && whySelfUnknown(self) !== null) return self;
  const bots = namesOf(draft.state.settings.reactions.on.bot_review?.botUsernames ?? []);
  const isPersons = ({ reviewer }: ReviewComment): boolean => !bots.has(reviewer.toLowerCase()) && !isOwnAccount(self, reviewer);
  return { ok: true, value: reviews.value.filter(isPersons) };
}

/** What bots said, our own account only where it is named. */
function heardBots(draft: Draft, { findings: { botReviews, self } }: Look): Heard {
  if (!botReviews?.ok) return botReviews;
  if (self?.ok === false && whySelfUnknown(self) !== null) return self;
  const bots = namesOf(draft.state.settings.reactions.on.bot_review?.botUsernames ?? []);
  const isBots = ({ reviewer }: ReviewComment): boolean => bots.has(reviewer.toLowerCase()) || !isOwnAccount(self, reviewer);
  return { ok: true, value: botReviews.value.filter(isBots) };
}

/**
 * What is left of a queued turn by what is said now, by people who still count. While a new comment that it was queued for stands,
 * it carries all that remain, also those that came meanwhile. One that began goes on with what it was given, which its own push
 * may have made outdated.
 */
function stillHeard(heard: Heard, watch: Watch, kind: CommentKind, queued: readonly ReviewCommentContext[] = []) {
  if (!heard?.ok) return 'unread';
  const ids = new Set(queued.map(({ id }) => id));
  const hasBegun = !hasNew(watch, kind, queued);
  const remaining = heard.value.filter(({ id, outdated }) => (hasBegun ? ids.has(id) : !outdated));
  const asking = remaining.filter(({ id }) => ids.has(id));
  const stands = hasBegun ? asking.length > 0 : hasNew(watch, kind, asking);
  return stands ? contextOf(kind, remaining) : null;
}

function judge(draft: Draft, watch: Watch, kind: CommentKind, remaining: readonly ReviewComment[], budget: number): void {
  const progress = progressOf(watch, kind);
  const isNew = hasNew(watch, kind, remaining);
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind,
    result: isNew ? 'new_comments' : 'nothing_new',
    detail: '',
  });
  if (!isNew) return waitFor(draft, watch, kind, 'a new comment');
  if (progress.used >= budget) {
    const mark = givenWith(watch, kind, remaining);
    return outOfTurns(draft, watch, kind, `a new comment came after ${progress.used} turns`, { mark });
  }
  queueTurn(draft, watch, kind, contextOf(kind, remaining), progress);
}

/** The run has them from here on: they start no other. */
function noteGiven(draft: Draft, watch: Watch, kind: CommentKind, begun: readonly ReviewCommentContext[] = []): void {
  putProgress(draft, watch.issue.id, kind, { ...progressOf(watch, kind), mark: givenWith(watch, kind, begun) });
}

/** Nothing came of the run that had them: they count again. */
function withoutThose(mark: ReactionMarks[CommentKind], comments: readonly ReviewCommentContext[] = []) {
  if (mark.at !== 'given') return mark;
  const ids = new Set(comments.map(({ id }) => id));
  return { ...mark, comments: mark.comments.filter((id) => !ids.has(id)) };
}

function givenWith(watch: Watch, kind: CommentKind, comments: readonly { readonly id: string }[]) {
  return { at: 'given', comments: [...new Set([...givenTo(watch, kind), ...comments.map(({ id }) => id)])] } as const;
}

function namesOf(accounts: readonly string[]): ReadonlySet<string> {
  return new Set(accounts.map((name) => name.toLowerCase()));
}

function hasNew(watch: Watch, kind: CommentKind, comments: readonly { readonly id: string }[]): boolean {
  const given = new Set(givenTo(watch, kind));
  return comments.some((comment) => !given.has(comment.id));
}

function givenTo(watch: Watch, kind: CommentKind): readonly string[] {
  const { mark } = progressOf(watch, kind);
  return mark.at === 'given' ? mark.comments : [];
}

const TO_FINISH = 'the reviewer to finish';

/** From when on the reviewer is given time. By a clock that is ahead of ours the newest comment came now, when first waited for. */
function settlingTime(now: number, watch: Watch, comments: readonly ReviewComment[]): number {
  const came = newest(comments);
  if (came <= now) return came;
  return progressOf(watch, 'review_comments').waitingFor === TO_FINISH ? 0 : now;
}

/** When the newest comment came; a comment without a readable time counts as old. */
function newest(comments: readonly ReviewComment[]): number {
  const times = comments.map((comment) => Date.parse(comment.submittedAt)).filter((time) => !Number.isNaN(time));
  return times.length === 0 ? 0 : Math.max(...times);
}

function contextOf(kind: CommentKind, comments: readonly ReviewComment[]): ReactionContext {
  const shown = comments.map(({ id, file, startLine, endLine, reviewer, body }) => {
    return { id, file, startLine, endLine, reviewer, body };
  });
  return kind === 'bot_review' ? { botReviewComments: shown } : { reviewComments: shown };
}
