import type { ValueOf } from '../model/data-shape.ts';
import type { Findings } from '../model/findings.ts';
import type { CiConclusion, MergeStatus, ReviewDecision } from '../model/merge-request.ts';
import type { ReactionOptions } from '../model/reaction.ts';

/** What a merge was tried on. A refusal holds until one of these changes. */
export const READING = { decision: 'text', mergeability: 'text', ci: 'text' } as const;
export type MergeReading = ValueOf<typeof READING>;

/** A forge recomputes mergeability within a moment after a push or an approval: a first clean reading is looked at again after this. */
export const SETTLE_MS = 2_000;

/** Everything that a merge is decided upon. */
export interface MergeCase {
  readonly settings: ReactionOptions['auto_merge'];
  readonly merge: MergeStatus;
  readonly findings: Findings;
  readonly decision: ReviewDecision;
  readonly ci: CiConclusion;
}

export function readingOf({ decision, merge, ci }: MergeCase): MergeReading {
  return { decision, mergeability: merge.mergeability, ci };
}
