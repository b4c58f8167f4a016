import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import type { BotLookup } from './bots.ts';
import { PAGE_SIZE } from './client.ts';
import type { Place } from './forge.ts';
import { factsOf, readMergeRequest } from './forge.ts';
import { decisionOf, hasRequestedChanges, toReviewComment } from './scm-map.ts';
import type { WireReviewer, WireReviewNote, WireUserRef } from './scm-schema.ts';
import { APPROVALS, REVIEW_NOTE, REVIEWER } from './scm-schema.ts';
import { KIND } from './settings.ts';

export async function readReviewDecision(place: Place, signal: AbortSignal): Promise<ReviewDecision> {
  const reviewers = await readReviewers(place, signal);
  if (reviewers.some(hasRequestedChanges)) return decisionOf(reviewers, false);
  const { approved } = await place.http.getJson(APPROVALS, { path: `${place.requestRoute}/approvals` }, signal);
  return decisionOf(reviewers, approved === true);
}

/** What the people wrote who ask for changes. */
export async function readPendingReviews(place: Place, bots: BotLookup, signal: AbortSignal): Promise<readonly ReviewComment[]> {
  const people: WireUserRef[] = [];
  for (const { user } of (await readReviewers(place, signal)).filter(hasRequestedChanges)) {
    if (user && !(await isPlatformBot(place, bots, user, signal))) people.push(user);
  }
  if (people.length === 0) return [];
  const notes = await readNotes(place, signal);
  const theirs = notes.filter(({ author }) => author && people.some((user) => isSameUser(user, author)));
  return toComments(place, theirs, signal);
}

/** What bots wrote: accounts on the list, and those which the platform calls bots. An account that cannot be looked up ends the read. */
export async function readBotComments(
  place: Place,
  bots: BotLookup,
  botUsernames: readonly string[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const listed = new Set(botUsernames.map((name) => name.trim().toLowerCase()));
  // An author without a name is nobody's bot.
  listed.delete('');
  const selected: WireReviewNote[] = [];
  for (const note of await readNotes(place, signal)) {
    const { id, username } = note.author ?? {};
    if (listed.has((username ?? '').toLowerCase()) || (id && (await bots.isBot(id, signal)))) selected.push(note);
  }
  return toComments(place, selected, signal);
}

// Decoded as a whole: a reviewer left out could be the one who asks for changes.
async function readReviewers({ http, requestRoute }: Place, signal: AbortSignal): Promise<readonly WireReviewer[]> {
  const query = { per_page: PAGE_SIZE };
  return (await http.getPages(REVIEWERS, { path: `${requestRoute}/reviewers`, query }, signal)).flat();
}

const REVIEWERS = z.array(REVIEWER);

// Better one comment too many than a person unheard: a failed lookup counts as a person, and is tried again next time.
async function isPlatformBot(
  place: Place,
  bots: BotLookup,
  { id, username }: WireUserRef,
  signal: AbortSignal,
): Promise<boolean> {
  if (!id) return false;
  try {
    return await bots.isBot(id, signal);
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    const facts = { tracker_kind: KIND, ...factsOf(place), reviewer: username ?? '', error: error.message };
    place.logger.warn('reviewer could not be looked up, taken for a person', facts);
    return false;
  }
}

/** Open comments, oldest first. The system's own notes and threads that were resolved ask for nothing. */
async function readNotes({ http, requestRoute }: Place, signal: AbortSignal): Promise<readonly WireReviewNote[]> {
  const query = { activity_filter: 'only_comments', sort: 'asc', per_page: PAGE_SIZE };
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
  place: Place,
  notes: readonly WireReviewNote[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const isOnDiff = notes.some(({ position }) => position);
  const headSha = isOnDiff ? ((await readMergeRequest(place, signal)).sha ?? '') : '';
  return notes.map((note) => toReviewComment(note, headSha));
}
