import type { RecordedRequest } from '../../support/http-server.ts';
import type { Answer, Instance, Route, Routes } from './answer.ts';
import { failure, notFound, ok, page, slice, write } from './answer.ts';
import type { FakePull, FakeReview, NewInline, ReviewState } from './pull-store.ts';
import { addPull, addReview, mergePull, pullOf } from './pull-store.ts';
import { eventBody, inlineBody, pullBody, reviewBody } from './pull-wire.ts';
import type { FakeIssue } from './store.ts';

/** Pull requests, their reviews and their merge: what a token with the repository scope may do. */
export function pullRoutes(instance: Instance): Routes {
  const { store, base } = instance;
  const shown = (issue: FakeIssue, pull: FakePull) => pullBody(store, issue, pull, base());
  return {
    'GET /pulls': (request) => {
      const state = request.query.get('state') ?? 'open';
      const pulls = [...store.issues.values()].filter((issue) => issue.isPull && (state === 'all' || issue.state === state));
      return page(
        instance,
        request,
        pulls.toReversed().flatMap((issue) => {
          const pull = pullOf(store, issue);
          return pull ? [shown(issue, pull)] : [];
        }),
      );
    },
    'POST /pulls': write(instance, (request) => {
      const { head: branch = '', title = '' } = request.json() as { head?: string; title?: string };
      const sha = store.branches.get(branch);
      if (sha === undefined) return notFound(instance);
      const pulls = [...store.issues.values()].filter(({ isPull, state }) => isPull && state === 'open');
      if (pulls.some((issue) => pullOf(store, issue)?.headBranch === branch)) {
        return failure(instance, 409, 'pull request already exists for these targets [id: 1]');
      }
      const pull = addPull(store, { author: instance.login, title, branch, sha });
      return ok(shown(store.issues.get(pull.number)!, pull), 201);
    }),
    'GET /pulls/:index': ofPull(instance, ({ issue, pull }) => ok(shown(issue, pull))),
    'GET /pulls/:index/merge': ofPull(instance, ({ pull }) => (pull.merged ? { status: 204 } : notFound(instance))),
    'POST /pulls/:index/merge': write(
      instance,
      ofPull(instance, ({ issue, pull }, request) => merged(instance, issue, pull, request), 'GetPullRequestByIndex'),
    ),
    'POST /pulls/:index/requested_reviewers': ofPull(instance, ({ issue, pull }, request) => {
      const { reviewers = [] } = request.json() as { reviewers?: readonly string[] };
      pull.requestedReviewers = [...new Set([...pull.requestedReviewers, ...reviewers])];
      const asked = reviewers.map((author) => addReview(store, pull, { author, state: 'REQUEST_REVIEW' }));
      return ok(
        asked.map((review) => reviewBody(store, issue, review, base())),
        201,
      );
    }),
    ...reviewRoutes(instance),
  };
}

function reviewRoutes(instance: Instance): Routes {
  const { store, base } = instance;
  let asked = 0;
  return {
    'GET /pulls/:index/reviews': ofPull(instance, ({ issue, pull }, request) => {
      // Cut first; then the drafts of others go, so that a page may be short without being the last. No links.
      const visible = (slice(instance, request, pull.reviews).items as readonly FakeReview[]).filter(
        ({ state, author }) => state !== 'PENDING' || author === instance.login,
      );
      const body = visible.map((review) => reviewBody(store, issue, review, base()));
      return { status: 200, body, headers: { 'x-total-count': String(pull.reviews.length) } };
    }),
    'POST /pulls/:index/reviews': ofPull(instance, ({ issue, pull }, request) => reviewed(instance, issue, pull, request)),
    // All of them whatever page is asked for, in an order that changes from answer to answer.
    'GET /pulls/:index/reviews/:id/comments': ofPull(instance, ({ issue, pull }, _, { id }) => {
      const review = pull.reviews.find((one) => String(one.id) === id);
      if (!review) return notFound(instance);
      asked += 1;
      const bodies = review.comments.map((comment) => inlineBody(store, issue, { review, comment }, base()));
      return ok(asked % 2 === 1 ? bodies : bodies.toReversed());
    }),
    'POST /pulls/:index/reviews/:id/dismissals': ofPull(instance, ({ issue, pull }, _, { id }) => {
      const review = pull.reviews.find((one) => String(one.id) === id);
      if (!review) return notFound(instance);
      review.dismissed = true;
      return ok(reviewBody(store, issue, review, base()));
    }),
  };
}

/** The timeline belongs to the issue, and so does its scope. */
export function timelineRoutes(instance: Instance): Routes {
  const { store, base } = instance;
  return {
    // Oldest first. Inline comments are taken out after the page was cut, the total is that of the page, and none is null.
    'GET /issues/:index/timeline': (request, { index }) => {
      const issue = store.issues.get(Number(index));
      // The vendor's own fault, told to administrators only.
      if (!issue) return failure(instance, 500, '');
      const events = (slice(instance, request, issue.timeline).items as FakeIssue['timeline']).filter(
        ({ type }) => type !== 'code',
      );
      const body = events.length === 0 ? null : events.map((event) => eventBody(store, issue, event, base()));
      return { status: 200, body, headers: { 'x-total-count': String(events.length) } };
    },
  };
}

interface Subject {
  readonly issue: FakeIssue;
  readonly pull: FakePull;
}

function ofPull(
  instance: Instance,
  handle: (subject: Subject, request: RecordedRequest, params: Readonly<Record<string, string>>) => Answer,
  missing?: string,
): Route {
  return (request, params) => {
    const issue = instance.store.issues.get(Number(params.index));
    const pull = issue && pullOf(instance.store, issue);
    return issue && pull ? handle({ issue, pull }, request, params) : notFound(instance, missing);
  };
}

const STYLES = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only', 'manually-merged'];

// In the order of the vendor: what the pull request is, what the user may do, and only then the expected head.
function merged(instance: Instance, issue: FakeIssue, pull: FakePull, request: RecordedRequest): Answer {
  const form = lowerKeys(request.json() as Readonly<Record<string, unknown>>);
  if (!STYLES.includes(String(form.do))) return failure(instance, 422, '[Do]: In');
  const refusal = refusalOf(instance, issue, pull);
  if (refusal) return refusal;
  if (form.head_commit_id && form.head_commit_id !== pull.headSha) return failure(instance, 409, 'head out of date');
  // A conflict is told by the error itself, which has no message.
  if (pull.conflicts) return { status: 409, body: { Style: form.do, StdOut: 'CONFLICT (content): a.ts', StdErr: '', Err: {} } };
  mergePull(instance.store, pull, instance.login);
  return { status: 200 };
}

function refusalOf(instance: Instance, issue: FakeIssue, pull: FakePull): Answer | undefined {
  if (pull.merged) return failure(instance, 405, 'The PR is already merged');
  if (issue.state === 'closed') return notFound(instance);
  if (!instance.mayPush) return failure(instance, 405, 'User not allowed to merge PR');
  if (pull.draft) return failure(instance, 405, 'Work in progress PRs cannot be merged');
  return pull.mergeable ? undefined : failure(instance, 405, 'Please try again later');
}

// The decoder of the vendor does not mind the case of a key.
function lowerKeys(form: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(form).map(([key, value]) => [key.toLowerCase(), value]));
}

interface ReviewForm {
  readonly event?: ReviewState;
  readonly body?: string;
  readonly comments?: readonly { body?: string; path?: string; new_position?: number; old_position?: number }[];
}

function reviewed(instance: Instance, issue: FakeIssue, pull: FakePull, request: RecordedRequest): Answer {
  const { event = 'PENDING', body = '', comments = [] } = request.json() as ReviewForm;
  const isOwn = issue.author === instance.login && (event === 'APPROVED' || event === 'REQUEST_CHANGES');
  if (isOwn) return failure(instance, 422, 'reject your own pull is not allowed');
  if (event === 'REQUEST_CHANGES' && body === '') return failure(instance, 422, `review event ${event} requires a body`);
  const inline = comments.map((one): NewInline => ({
    body: one.body,
    path: one.path,
    position: one.new_position ?? 0,
    originalPosition: one.old_position ?? 0,
  }));
  const review = addReview(instance.store, pull, { author: instance.login, state: event, body, comments: inline });
  return ok(reviewBody(instance.store, issue, review, instance.base()));
}
