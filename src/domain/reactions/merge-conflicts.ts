import { announce, type Draft } from '../draft.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { Watch } from '../model/watch.ts';
import { escalate, isWorkedOn, progressOf, queueTurn, waitFor } from './progress.ts';

/** Only `dirty` is a conflict; `unknown` changes nothing; anything else ends the episode and its budget. */
export function judgeConflicts(draft: Draft, watch: Watch, merge: MergeStatus): void {
  const settings = draft.state.settings.reactions.mergeConflicts;
  if (!settings) return;
  const { mergeability, headSha, headBranch, baseBranch } = merge;
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'merge_conflicts',
    result: mergeability,
    detail: headSha,
  });
  if (mergeability === 'unknown') return waitFor(draft, watch, 'merge_conflicts', 'the forge to know');
  if (mergeability !== 'dirty') {
    return waitFor(draft, watch, 'merge_conflicts', 'a conflict', { used: 0, mark: '', escalated: false });
  }
  if (isWorkedOn(draft, watch)) return waitFor(draft, watch, 'merge_conflicts', 'the run under way to end');
  if (headSha === '' || baseBranch === '') return waitFor(draft, watch, 'merge_conflicts', 'the forge to name head and base');
  const progress = progressOf(watch, 'merge_conflicts');
  if (progress.mark === headSha) return waitFor(draft, watch, 'merge_conflicts', 'a push that resolves the conflict');
  if (progress.used >= settings.budget) {
    return escalate(draft, watch, 'merge_conflicts', `it still conflicts with ${baseBranch} after ${progress.used} turns`);
  }
  const mergeConflict = {
    prNumber: watch.mergeRequest.number,
    branch: headBranch || watch.mergeRequest.branch,
    headSha,
    base: baseBranch,
  };
  queueTurn(draft, watch, 'merge_conflicts', { mergeConflict }, { ...progress, mark: headSha });
}
