import { announce, putWatch, type Draft } from '../draft.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { ReactionKind } from '../model/reaction.ts';
import { problemOf, type ReactionProgress, type RequestFacts, type Standing, type Watch } from '../model/watch.ts';
import { whyElsewhere, whyForeign } from './managed.ts';
import { endWatch, isWorkedOn, progressOf, putProgress, waitFor, waitLonger } from './progress.ts';
import { activeReactions, reactionOf } from './registry.ts';

/** A request in a project that is not ours, or on another forge, is never asked about; an edit of the workflow may make it ours. */
export function checkProject(draft: Draft, watch: Watch): void {
  const { standing } = watch.facts;
  const { reactions } = draft.state.settings;
  const foreign = whyElsewhere(reactions, watch) ?? whyForeign(reactions, watch.mergeRequest);
  if (foreign !== null) return refuse(draft, watch, foreign);
  if (standing.is === 'unmanaged' && standing.cause === 'project') putFacts(draft, watch, { standing: { is: 'unread' } });
  if (watch.facts.forge === null && reactions.forge !== undefined) putFacts(draft, watch, { forge: reactions.forge });
}

/** Not this issue's request: told once. */
export function refuse(draft: Draft, watch: Watch, refusal: Extract<Standing, { is: 'unmanaged' }>): void {
  const { standing } = watch.facts;
  if (standing.is === 'unmanaged' && standing.reason === refusal.reason) return;
  putFacts(draft, watch, { standing: refusal });
  const { owner, repo, number } = watch.mergeRequest;
  announce(draft, 'reaction:request:refused', { issue: watch.issue, owner, repo, number, why: refusal.reason });
}

function putFacts(draft: Draft, watch: Watch, facts: Partial<RequestFacts>): void {
  const known = current(draft, watch);
  putWatch(draft, { ...known, facts: { ...known.facts, ...facts } });
}

/** One look without the request proves nothing; two in a row do. It stays in the list, and is looked for now and then. */
export function onMissing(draft: Draft, watch: Watch, due: readonly ReactionKind[]): void {
  const before = problemOf(watch);
  putFacts(draft, watch, { missing: watch.facts.missing + 1 });
  const { issue, mergeRequest } = watch;
  const { owner, repo, number } = mergeRequest;
  const problem = problemOf(current(draft, watch));
  if (before === null && problem !== null) announce(draft, 'reaction:request:gone', { issue, owner, repo, number });
  for (const kind of due) waitLonger(draft, current(draft, watch), kind, problem ?? NOT_FOUND);
}

const NOT_FOUND = 'another look: the forge did not have it';

/** How long a closed request is looked at now and then: whoever opens it again wants it looked after. */
const CLOSED_WATCH_MS = 7 * 24 * 3_600_000;

/** Closed: nothing is done to it, and it is looked at ever less often until it is opened again. */
export function onClosed(draft: Draft, watch: Watch, due: readonly ReactionKind[]): void {
  const { closedAt } = watch.facts;
  const { owner, repo, number } = watch.mergeRequest;
  if (closedAt === null) announce(draft, 'reaction:request:closed', { issue: watch.issue, owner, repo, number });
  if (closedAt !== null && draft.now - closedAt > CLOSED_WATCH_MS) return endWatch(draft, watch, 'the merge request was closed');
  putFacts(draft, watch, { closedAt: closedAt ?? draft.now });
  for (const kind of due) waitLonger(draft, current(draft, watch), kind, CLOSED);
}

const CLOSED = 'the merge request to be opened again';

/** Looked at ever less often because of what the forge said of the request, and not because it could not be read. */
export function restsWithRequest(watch: Watch, { waitingFor }: ReactionProgress): boolean {
  return [CLOSED, NOT_FOUND, problemOf(watch)].includes(waitingFor);
}

/** Opened again: it is looked after as before. */
export function noteOpen(draft: Draft, watch: Watch): void {
  if (watch.facts.closedAt === null) return;
  putFacts(draft, watch, { closedAt: null });
  const { owner, repo, number } = watch.mergeRequest;
  announce(draft, 'reaction:watch:armed', { issue: watch.issue, owner, repo, number });
}

const ISSUE_RESTS = {
  'reaction:issue:closed': 'the closed issue to be opened again, or the merge',
  'reaction:issue:gone': 'the tracker to have the issue again, or the merge',
} as const;

/** Nothing is done to the request of an issue that is closed or gone, which is told once. Whoever brings the issue back has it go on. */
export function restWithIssue(draft: Draft, watch: Watch, due: readonly ReactionKind[], notice: keyof typeof ISSUE_RESTS): void {
  const { owner, repo, number } = watch.mergeRequest;
  const waitsFor = ISSUE_RESTS[notice];
  const isTold = Object.values(watch.reactions).some(({ waitingFor }) => waitingFor === waitsFor);
  if (!isTold) announce(draft, notice, { issue: watch.issue, owner, repo, number });
  for (const kind of due) waitFor(draft, current(draft, watch), kind, waitsFor);
}

/** Notes what the look showed of the request itself. While a run of ours goes on, a head may be its work half done. */
export function noteLook(draft: Draft, watch: Watch, { headSha }: MergeStatus): void {
  const { head, runs } = watch.facts;
  const isNoted = !isWorkedOn(draft, watch);
  putFacts(draft, watch, {
    standing: { is: 'managed' },
    missing: 0,
    ...(isNoted && { head: { sha: headSha, runs } }),
  });
  if (!isNoted || head === null || head.sha === headSha) return;
  const byUs = runs !== head.runs;
  // Those that are off, too: they go on from there when they are switched on again.
  const kinds = activeReactions(draft.state.settings.reactions).map(({ kind }) => kind);
  for (const kind of new Set([...kinds, ...(Object.keys(watch.reactions) as ReactionKind[])])) {
    const { onNewHead } = reactionOf(kind);
    if (onNewHead) putProgress(draft, watch.issue.id, kind, onNewHead(progressOf(current(draft, watch), kind), byUs));
  }
}

/** The watch as the draft has it by now. */
export function current(draft: Draft, watch: Watch): Watch {
  return draft.state.watches.get(watch.issue.id) ?? watch;
}
