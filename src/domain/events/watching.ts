import { announce, putWatch, type Draft } from '../draft.ts';
import type { RunExit } from '../model/event.ts';
import { NO_MARK, type ReactionKind } from '../model/reaction.ts';
import type { Verdict } from '../model/claim.ts';
import { sameState, stateIn } from '../model/issue.ts';
import { isCompletionBegun } from '../reactions/after-merge.ts';
import { whyForeign } from '../reactions/managed.ts';
import { freshProgress } from '../reactions/progress.ts';
import type { Reaction } from '../reactions/reaction.ts';
import { activeReactions, reactionOf } from '../reactions/registry.ts';
import { settingsFor, type Live } from '../model/state.ts';
import { NOTHING_KNOWN, type MergeRequestRef, type ReactionProgress, type Watch } from '../model/watch.ts';

/** A run of ours began: what it pushes is ours. */
export function noteRun(draft: Draft, issueId: string): void {
  const watch = draft.state.watches.get(issueId);
  if (watch) putWatch(draft, { ...watch, facts: { ...watch.facts, runs: watch.facts.runs + 1 } });
}

/**
 * A run of ours ended. A normal exit that left a usable merge request behind is watched from here on, also after a
 * handoff. A request that is watched already stays so, also when the run named none, and keeps its budgets; what waited for
 * the run may be judged again.
 */
export function armWatch(draft: Draft, live: Live, exit: RunExit, verdict: Verdict): void {
  noteRun(draft, live.issue.id);
  const { reactions: settings } = settingsFor(draft.state, live.issue.id);
  const active = activeReactions(settings);
  if (exit.kind !== 'normal' || isFinal(verdict) || active.length === 0) return;
  const before = draft.state.watches.get(live.issue.id);
  const mergeRequest = believed(draft, live, requestOf(exit.scm), before);
  if (!mergeRequest) return;
  // One that this run did not name stays on the forge where it is.
  const forge = mergeRequest === before?.mergeRequest ? before.facts.forge : (settings.forge ?? null);
  const isThere = before !== undefined && isSameForge(before, forge);
  const isKnown = isThere && sameRequest(before.mergeRequest, mergeRequest);
  const facts = isKnown && before.mergeRequest.branch === mergeRequest.branch ? before.facts : NOTHING_KNOWN;
  const reactions = active.map((reaction) => {
    const { kind } = reaction;
    return [kind, armed(reaction, before?.reactions[kind], { isKnown, isThere }, draft.now)];
  });
  putWatch(draft, {
    issue: live.issue,
    mergeRequest,
    armedAt: draft.now,
    attempt: live.attempt,
    facts: { ...facts, forge },
    // One that is off stays as it was: switched on again, it goes on from there.
    reactions: { ...(isKnown && before.reactions), ...(Object.fromEntries(reactions) as Watch['reactions']) },
  });
  const { owner, repo, number } = mergeRequest;
  if (!isKnown) announce(draft, 'reaction:watch:armed', { issue: live.issue, number, owner, repo });
}

/**
 * A person who moves the issue of a reaction that asked for one releases it, as by `foray unpark`. What we did ourselves does
 * not: a run that went on since may have moved it, what is handed off comes to its state, and a completion may be half way,
 * which has an answer of its own to what a person does. From there on a change is measured.
 */
export function noteMoved(draft: Draft, issueId: string, state: string): void {
  const watch = draft.state.watches.get(issueId);
  if (!watch || state === '' || draft.state.claims.has(issueId) || isCompletionBegun(watch)) return;
  const { runs } = watch.facts;
  const asking = Object.entries<ReactionProgress>(watch.reactions).filter(([, { escalated, asked }]) => escalated && asked);
  const elsewhere = asking.filter(([, { asked }]) => !sameState(asked?.state ?? '', state));
  const isReleased = elsewhere.some(([, { asked }]) => Boolean(asked?.state) && asked?.runs === runs);
  if (isReleased && !isHandedOff(draft, state)) {
    putWatch(draft, giveBudgetsBack(watch, draft.now));
    return announce(draft, 'issue:park:released', { issue: watch.issue, reason: `its state changed to "${state}"` });
  }
  if (elsewhere.length === 0 && asking.every(([, { asked }]) => asked?.runs === runs)) return;
  const measured = asking.map(([kind, progress]) => [kind, { ...progress, asked: { ...progress.asked, state, runs } }]);
  putWatch(draft, { ...watch, reactions: { ...watch.reactions, ...(Object.fromEntries(measured) as Watch['reactions']) } });
}

/** Whether an issue that a run of ours has finished comes to this state. */
function isHandedOff({ state: { settings } }: Draft, state: string): boolean {
  const { handoffState, noChangeState } = settings.tracker;
  return stateIn([handoffState ?? '', noChangeState ?? ''], state);
}

/** A person took over or asked for another try: what had given up has its budget back and looks again at once. */
export function giveBudgetsBack(watch: Watch, now: number): Watch {
  const reactions = Object.entries<ReactionProgress>(watch.reactions).map(([kind, progress]) => {
    if (!progress.escalated) return [kind, progress];
    const mark = reactionOf(kind as ReactionKind).keepsMark ? progress.mark : NO_MARK;
    return [kind, { ...progress, used: 0, escalated: false, restored: false, nextAt: now, mark }];
  });
  return { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] };
}

/** A run that names a request of somebody else's project does not lose us the one that is this issue's. */
function believed(
  draft: Draft,
  { issue }: Live,
  named: MergeRequestRef | null,
  before: Watch | undefined,
): MergeRequestRef | null {
  if (named === null || before?.facts.standing.is !== 'managed') return named ?? before?.mergeRequest ?? null;
  const foreign = whyForeign(draft.state.settings.reactions, named);
  if (foreign === null) return named;
  const { owner, repo, number } = named;
  announce(draft, 'reaction:request:refused', { issue, owner, repo, number, why: foreign.reason });
  return before.mergeRequest;
}

/** Null where the run left none, or one that names no request. */
function requestOf(scm: RunExit['scm']): MergeRequestRef | null {
  if (scm === null || scm.prNumber <= 0 || scm.owner === '' || scm.repo === '') return null;
  const { owner, repo, prNumber, branch, sha } = scm;
  return { owner, repo, number: prNumber, branch, sha };
}

/** An issue that is over or waits for a person is not watched. */
function isFinal(verdict: Verdict): boolean {
  return verdict.then === 'park' || (verdict.then === 'release' && verdict.terminal);
}

/**
 * The turn that was queued has ended: the same head may be judged once more, within the same budget. A run that names
 * another request of the forge in its place does not win a budget by that, and a later one that names the first again is not
 * given its comments twice.
 */
function armed(
  { onRunEnded }: Reaction,
  progress: ReactionProgress | undefined,
  { isKnown, isThere }: { readonly isKnown: boolean; readonly isThere: boolean },
  now: number,
): ReactionProgress {
  if (progress === undefined) return freshProgress(now);
  const given = isThere && progress.mark.at === 'given' ? progress.mark : NO_MARK;
  if (!isKnown) return { ...freshProgress(now), used: progress.used, mark: given };
  return { ...progress, mark: onRunEnded?.(progress.mark) ?? progress.mark, nextAt: now };
}

function isSameForge({ facts }: Watch, forge: string | null): boolean {
  return facts.forge === null || facts.forge === forge;
}

/** Forges tell no case in the names of projects: another spelling is not another request. */
function sameRequest(a: MergeRequestRef, b: MergeRequestRef): boolean {
  const projectOf = ({ owner, repo }: MergeRequestRef): string => `${owner}/${repo}`.toLowerCase();
  return projectOf(a) === projectOf(b) && a.number === b.number;
}
