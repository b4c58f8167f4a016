import { announce, type Draft } from '../draft.ts';
import { NO_MARK, type ReactionContext } from '../model/reaction.ts';
import type { Watch } from '../model/watch.ts';
import { isWorkedOn, progressOf, waitFor } from './progress.ts';
import { DAY_MS, type Declaration, type Look, type Reaction } from './reaction.ts';
import { outOfTurns, queueTurn } from './turns.ts';

const declaration = {
  kind: 'merge_conflicts',
  about: 'Have the agent resolve conflicts with the base branch.',
  defaults: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 1 },
  keys: {},
  // The head whose conflict a turn was queued for.
  marks: { resolving: { headSha: 'text' } },
  prompt: {
    variable: 'merge_conflict',
    shape: { prNumber: 'number', branch: 'text', headSha: 'text', base: 'text' },
    paragraph:
      'Your merge request conflicts with its base. The facts as JSON data: {{ .merge_conflict | toJSON }}. Bring the branch up to date, resolve the conflicts, and push.',
  },
} as const satisfies Declaration;

export const MERGE_CONFLICTS: Reaction<typeof declaration> = {
  ...declaration,
  needs: () => [],
  judge: judgeConflicts,
  renew: stillConflicting,
  onRunEnded: () => NO_MARK,
};

/** What is left of a queued turn: nothing once the conflict is gone or somebody pushed. */
function stillConflicting(_draft: Draft, watch: Watch, { merge }: Look, queued: ReactionContext): ReactionContext | null {
  const { mark } = progressOf(watch, 'merge_conflicts');
  const isOther = mark.at === 'resolving' && merge.headSha !== '' && mark.headSha !== merge.headSha;
  return isOther || merge.mergeability === 'clean' ? null : queued;
}

/** Only `dirty` is a conflict, and only a request that can be merged has none: anything else changes nothing. */
function judgeConflicts(draft: Draft, watch: Watch, { merge }: Look): void {
  const settings = draft.state.settings.reactions.on.merge_conflicts;
  if (!settings) return;
  const { mergeability, headSha, headBranch, baseBranch } = merge;
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'merge_conflicts',
    result: mergeability,
    detail: headSha,
  });
  if (mergeability === 'unknown') return waitFor(draft, watch, 'merge_conflicts', 'the forge to know');
  if (mergeability === 'clean') {
    return waitFor(draft, watch, 'merge_conflicts', 'a conflict', { used: 0, mark: NO_MARK, escalated: false, restored: false });
  }
  if (mergeability !== 'dirty') return waitFor(draft, watch, 'merge_conflicts', 'a conflict');
  if (isWorkedOn(draft, watch)) return waitFor(draft, watch, 'merge_conflicts', 'the run under way to end');
  if (headSha === '' || baseBranch === '') return waitFor(draft, watch, 'merge_conflicts', 'the forge to name head and base');
  const progress = progressOf(watch, 'merge_conflicts');
  if (progress.mark.at === 'resolving' && progress.mark.headSha === headSha)
    return waitFor(draft, watch, 'merge_conflicts', 'a push that resolves the conflict');
  if (progress.used >= settings.budget) {
    return outOfTurns(draft, watch, 'merge_conflicts', `it still conflicts with ${baseBranch} after ${progress.used} turns`);
  }
  const mergeConflict = {
    prNumber: watch.mergeRequest.number,
    branch: headBranch || watch.mergeRequest.branch,
    headSha,
    base: baseBranch,
  };
  queueTurn(draft, watch, 'merge_conflicts', { mergeConflict }, { ...progress, mark: { at: 'resolving', headSha } });
}
