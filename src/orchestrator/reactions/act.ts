import type { Effect } from '../../domain/model/effect.ts';
import { faultOf, ScmConflictError } from '../../domain/model/errors.ts';
import type { MergeOutcome } from '../../domain/model/event.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { Tracker } from '../../ports/tracker.ts';
import type { Forge } from './forge.ts';

/** Merges if the head still is the expected one. Somebody else having been faster is success too. */
export async function merge(effect: Extract<Effect, { do: 'merge' }>, forge: Forge, signal: AbortSignal): Promise<MergeOutcome> {
  try {
    await forge.scm.merge(effect.request, effect.order, signal);
    return { kind: 'merged', byUs: true };
  } catch (error) {
    if (error instanceof ScmConflictError && error.alreadyMerged) return { kind: 'merged', byUs: false };
    return { kind: 'refused', fault: faultOf(error) };
  }
}

/** Moves the issue of a merged request to its last state, unless it is there already by somebody else's hand. */
export async function complete(
  effect: Extract<Effect, { do: 'complete' }>,
  tracker: Tracker,
  signal: AbortSignal,
): Promise<void> {
  if (!effect.begun) {
    const state = (await tracker.fetchIssueStatesByIds([effect.issue.id], signal)).get(effect.issue.id);
    if (state !== undefined && sameState(state, effect.target)) return;
  }
  await tracker.transitionIssue(effect.issue.id, effect.target, signal);
}
