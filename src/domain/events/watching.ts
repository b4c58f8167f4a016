import { announce, putWatch, type Draft } from '../draft.ts';
import type { RunExit } from '../model/event.ts';
import type { Verdict } from '../model/verdict.ts';
import { freshProgress } from '../reactions/progress.ts';
import { activeReactions } from '../reactions/registry.ts';
import type { Live } from '../model/state.ts';
import { NO_MARK, type MergeRequestRef, type ReactionMarks, type ReactionProgress, type Watch } from '../model/watch.ts';
import type { ReactionKind } from '../model/settings.ts';

/**
 * A normal exit that left a usable merge request behind is watched from here on, also after a handoff. A request that
 * is watched already keeps its budgets; the head we pushed is noted and what waited for the run may be judged again.
 */
export function armWatch(draft: Draft, live: Live, exit: RunExit, verdict: Verdict): void {
  const { reactions } = draft.state.settings;
  if (exit.kind !== 'normal' || exit.scm === null || isFinal(verdict)) return;
  const kinds = activeReactions(reactions).map(({ kind }) => kind);
  if (kinds.length === 0) return;
  const { owner, repo, prNumber, branch, sha } = exit.scm;
  if (prNumber <= 0 || owner === '' || repo === '') return;
  const mergeRequest: MergeRequestRef = { owner, repo, number: prNumber, branch, sha };
  const before = draft.state.watches.get(live.issue.id);
  const known = before && sameRequest(before.mergeRequest, mergeRequest) ? before : null;
  const watch: Watch = {
    issue: live.issue,
    mergeRequest,
    armedAt: draft.now,
    attempt: live.attempt,
    reactions: Object.fromEntries(kinds.map((kind) => [kind, armed(known?.reactions[kind], draft.now)])),
  };
  putWatch(draft, watch);
  if (!known) announce(draft, 'reaction:watch:armed', { issue: live.issue, number: prNumber, owner, repo });
}

/** An issue that is over or waits for a person is not watched. */
function isFinal(verdict: Verdict): boolean {
  return verdict.then === 'park' || (verdict.then === 'release' && verdict.terminal);
}

/** The turn that was queued has ended: the same head may be judged once more, within the same budget. */
function armed(progress: Watch['reactions'][ReactionKind], now: number): ReactionProgress {
  if (progress === undefined) return freshProgress(now);
  return { ...progress, mark: reopened(progress.mark), nextAt: now };
}

function reopened(mark: ReactionMarks[ReactionKind]): ReactionMarks[ReactionKind] {
  if (mark.at === 'fixing') return { ...mark, at: 'seen' };
  return mark.at === 'resolving' ? NO_MARK : mark;
}

function sameRequest(a: MergeRequestRef, b: MergeRequestRef): boolean {
  return a.owner === b.owner && a.repo === b.repo && a.number === b.number;
}
