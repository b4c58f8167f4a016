import type { CiConclusion, MergeStatus, ReviewDecision } from '../model/merge-request.ts';
import type { ReactionOptions } from '../model/reaction.ts';

/** The first precondition that does not hold, for people; null when all do. */
export function obstacleTo(
  settings: ReactionOptions['auto_merge'],
  merge: MergeStatus,
  decision: ReviewDecision,
  ci: CiConclusion,
): string | null {
  if (merge.draft) return 'the draft to be marked ready';
  if (merge.headSha === '') return 'the forge to name the head';
  // Checks alone make a request unstable.
  const isStable = merge.mergeability === 'clean' || (merge.mergeability === 'unstable' && !settings.requireCi);
  if (!isStable) return MERGEABILITY_OBSTACLES[merge.mergeability as keyof typeof MERGEABILITY_OBSTACLES];
  if (decision !== 'APPROVED' && decision !== 'NOT_REQUIRED') return DECISION_OBSTACLES[decision];
  if (!settings.requireCi || ci === 'success' || ci === '') return null;
  return ci === 'pending' ? 'CI to finish' : 'CI to be fixed';
}

const MERGEABILITY_OBSTACLES = {
  dirty: 'the conflict to be resolved',
  unknown: 'the forge to know whether it can be merged',
  blocked: 'the forge to unblock it',
  unstable: 'its checks to be stable',
} as const;

const DECISION_OBSTACLES = {
  CHANGES_REQUESTED: 'the requested changes',
  REVIEW_REQUIRED: 'an approval',
} as const;
