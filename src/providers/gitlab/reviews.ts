import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { PAGE_SIZE } from './settings.ts';
import { decisionOf, hasRequestedChanges, toReviewComment } from './scm-map.ts';
import type { IsTrusted } from './members.ts';
import type { GitlabForge, RequestContext } from './scm-routes.ts';
import { factsOf, readMergeRequest } from './scm-routes.ts';
import type { WireReviewNote, WireReviewer, WireUserRef } from './scm-schema.ts';
import { APPROVAL_STATE, REVIEWER, REVIEW_NOTE, USER } from './scm-schema.ts';

/** Whose votes count, and our own account, empty where it is not known. */
interface Counting {
  readonly isTrusted: IsTrusted;
  readonly own: string;
}

/** A reviewer who is not trusted still counts as asked. */
export async function readReviewDecision(
  context: RequestContext,
  counting: Counting,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  const reviewers = await readReviewers(context, signal);
  const counted = await Promise.all(
    reviewers.map(async (reviewer) => {
      const counts = !hasRequestedChanges(reviewer) || (await counting.isTrusted(context, reviewer.user, signal));
      return counts ? reviewer : { ...reviewer, state: 'unreviewed' };
    }),
  );
  if (counted.some(hasRequestedChanges)) return decisionOf(counted, false);
  return decisionOf(counted, await isApproved(context, counting, signal));
}

/**
 * Where the rules ask for no approval, the request is approved by nobody; else somebody who is trusted must be among those
 * who did. Nobody approves their own work: an approval by our own account counts for nothing.
 */
async function isApproved(context: RequestContext, { isTrusted, own }: Counting, signal: AbortSignal): Promise<boolean> {
  // GitLab API, "Merge request approvals API".
  const { approved, approved_by: by } = await context.http.getJson(
    APPROVAL_STATE,
    { path: `${context.requestRoute}/approvals` },
    signal,
  );
  if (approved !== true || !by || by.length === 0) return approved === true;
  const others = by.filter(({ user }) => own === '' || user?.username?.toLowerCase() !== own.toLowerCase());
  return (await Promise.all(others.map(({ user }) => isTrusted(context, user, signal)))).includes(true);
}

/** How people are told from bots, and from those whose word does not count. */
interface Hearing extends Pick<GitlabForge, 'warnOnce'> {
  readonly bots: BotLookup;
  readonly isTrusted: IsTrusted;
}

/** What the people wrote who ask for changes. */
export async function readPendingReviews(
  context: RequestContext,
  { bots, isTrusted, warnOnce }: Hearing,
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const people: WireUserRef[] = [];
  for (const { user } of (await readReviewers(context, signal)).filter(hasRequestedChanges)) {
    if (!user || !(await isTrusted(context, user, signal))) continue;
    if (!(await isPlatformBot(context, { bots, warnOnce }, user, signal))) people.push(user);
  }
  if (people.length === 0) return [];
  const notes = await readNotes(context, signal);
  const theirs = notes.filter(({ author }) => author && people.some((user) => isSameUser(user, author)));
  return toComments(context, theirs, signal);
}

/** What bots wrote: accounts on the list, and those which the platform calls bots. An account that cannot be looked up ends the read. */
export async function readBotReviewComments(
  context: RequestContext,
  bots: BotLookup,
  botUsernames: readonly string[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const listed = new Set(botUsernames.map((name) => name.trim().toLowerCase()));
  // An author without a name is nobody's bot.
  listed.delete('');
  const selected: WireReviewNote[] = [];
  for (const note of await readNotes(context, signal)) {
    const { id, username } = note.author ?? {};
    if (listed.has((username ?? '').toLowerCase()) || (id && (await bots.isBot(id, signal)))) selected.push(note);
  }
  return toComments(context, selected, signal);
}

// Decoded as a whole: a reviewer left out could be the one who asks for changes.
async function readReviewers({ http, requestRoute }: RequestContext, signal: AbortSignal): Promise<readonly WireReviewer[]> {
  const query = { per_page: PAGE_SIZE };
  // GitLab API, "Merge requests API": reviewers.
  return (await http.getPages(REVIEWERS, { path: `${requestRoute}/reviewers`, query }, signal)).flat();
}

const REVIEWERS = z.array(REVIEWER);

// Better one comment too many than a person unheard: a failed lookup counts as a person, and is tried again next time.
async function isPlatformBot(
  context: RequestContext,
  { bots, warnOnce }: Pick<Hearing, 'bots' | 'warnOnce'>,
  { id, username }: WireUserRef,
  signal: AbortSignal,
): Promise<boolean> {
  if (!id) return false;
  try {
    return await bots.isBot(id, signal);
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    const facts = { ...factsOf(context), reviewer: username ?? '', error: error.message };
    warnOnce('reviewer could not be looked up, taken for a person', facts);
    return false;
  }
}

/** Open comments, oldest first. The system's own notes and threads that were resolved ask for nothing. */
async function readNotes({ http, requestRoute }: RequestContext, signal: AbortSignal): Promise<readonly WireReviewNote[]> {
  const query = { activity_filter: 'only_comments', sort: 'asc', per_page: PAGE_SIZE };
  // GitLab API, "Notes API": merge requests.
  const notes = await http.getRecords(REVIEW_NOTE, { path: `${requestRoute}/notes`, query }, signal);
  const open = notes.filter(({ system, resolved }) => system !== true && resolved !== true);
  // One that moved between two pages is on both.
  return [...new Map(open.map((note) => [String(note.id), note])).values()];
}

function isSameUser(one: WireUserRef, other: WireUserRef): boolean {
  return one.id && other.id ? one.id === other.id : Boolean(one.username) && one.username === other.username;
}

/** The head is read only when a comment on the diff is to be compared with it. */
async function toComments(
  context: RequestContext,
  notes: readonly WireReviewNote[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const isOnDiff = notes.some(({ position }) => position);
  const headSha = isOnDiff ? ((await readMergeRequest(context, signal)).sha ?? '') : '';
  return notes.map((note) => toReviewComment(note, headSha));
}

/** Whether an account is a bot of the platform. Authors and reviewers carry no such mark: each account is asked for once. */
export interface BotLookup {
  isBot(userId: number, signal: AbortSignal): Promise<boolean>;
}

/**
 * What was learnt is kept for as long as the lookup lives; a failure is not, it is asked again. Reads of one look run side by
 * side and end together, so they share what is still under way.
 */
export function createBotLookup(http: TrackerHttp): BotLookup {
  const known = new Map<number, Promise<boolean>>();
  const ask = async (userId: number, signal: AbortSignal): Promise<boolean> => {
    // GitLab API, "Users API".
    const { bot } = await http.getJson(USER, { path: `/users/${userId}` }, signal);
    return bot === true;
  };
  return {
    isBot: (userId, signal) => {
      const before = known.get(userId);
      if (before) return before;
      const asked = ask(userId, signal);
      known.set(userId, asked);
      asked.catch(() => known.delete(userId));
      return asked;
    },
  };
}
