import { sameState, type IssueRef } from '../model/issue.ts';
import type { State } from '../model/state.ts';
import { problemOf, type ReactionProgress, type Watch } from '../model/watch.ts';
import type { ReactionKind, ReactionMarks } from '../model/reaction.ts';
import { progressOf, settingsOf } from './progress.ts';

/** What a merge of ours still wants done, although the issue reads as terminal. Until then the watch must not end. */
export function hasWorkAfterMerge(state: State, watch: Watch, issueState: string): boolean {
  return mustDeleteBranch(state, watch) || mustFinishCompletion(state, watch, issueState);
}

/** True from a merge of ours until its branch was seen to, where branches are to be deleted. */
export function mustDeleteBranch({ settings }: State, watch: Watch): boolean {
  const { mark } = progressOf(watch, 'auto_merge');
  const isOurs = mark.at === 'merged' || mayHaveMerged(mark);
  return settings.reactions.on.auto_merge?.deleteBranch === true && isOurs && watch.mergeRequest.branch !== '';
}

/** A merge that was asked for, and whose outcome we do not know. When the request turns out to be merged, it was ours. */
export function mayHaveMerged(mark: ReactionMarks['auto_merge']): boolean {
  if (mark.at === 'refused') return mark.unsure;
  const isDoubtful = (mark.at === 'waiting' || mark.at === 'ready') && mark.unsureSince !== undefined;
  return mark.at === 'merging' || mark.at === 'queued' || isDoubtful;
}

/** A merge or a completion is half way through: the watch goes on whatever its window says. */
export function isMidway(watch: Watch): boolean {
  const { mark } = progressOf(watch, 'auto_merge');
  const isMerging = mark.at === 'merging' || mark.at === 'queued' || mark.at === 'merged';
  return isMerging || isMoving(progressOf(watch, 'merge_completion'));
}

/** The move of the issue was begun, and is tried until it is done. */
function isMoving({ mark, escalated }: ReactionProgress<'merge_completion'>): boolean {
  return mark.at === 'begun' && (!escalated || mark.againAt !== undefined);
}

/** Whether a reaction has watched long enough. */
export function isPastWindow({ settings }: State, watch: Watch, kind: ReactionKind, now: number): boolean {
  const window = settingsOf(settings.reactions, kind)?.watchWindowMs ?? 0;
  return window > 0 && now - watch.armedAt > window && !isMidway(watch);
}

/**
 * How far the move of the issue of a merged request has come, where its state may be what the half of it left. One that failed
 * for good counts until the issue is seen in another state; one that nobody will finish does not count.
 */
export function completionOf(state: State, { id, state: issueState }: IssueRef): 'under way' | 'failed' | null {
  if (state.pending.complete?.has(id) === true) return 'under way';
  const watch = state.watches.get(id);
  if (watch === undefined || settingsOf(state.settings.reactions, 'merge_completion') === undefined) return null;
  const { mark, escalated } = progressOf(watch, 'merge_completion');
  if (mark.at !== 'begun') return null;
  if (!escalated) return problemOf(watch) === null ? 'under way' : null;
  return mark.left === undefined || sameState(mark.left, issueState) ? 'failed' : null;
}

/** We asked for the move of the issue, whatever came of it. */
export function isCompletionBegun(watch: Watch): boolean {
  return progressOf(watch, 'merge_completion').mark.at === 'begun';
}

/** True while a move that we began may have got only half way: some trackers label first and close afterwards. */
export function mustFinishCompletion({ settings }: State, watch: Watch, issueState: string): boolean {
  const target = settings.reactions.on.merge_completion?.targetState;
  return target !== undefined && isMoving(progressOf(watch, 'merge_completion')) && sameState(issueState, target);
}
