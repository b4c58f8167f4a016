import type { Effect } from '../../domain/model/effect.ts';
import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import { faultOf, type Fault } from '../../domain/model/fault.ts';
import type { MergeOutcome } from '../../domain/model/event.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { MergeRequestRef } from '../../domain/model/watch.ts';
import type { Tracker } from '../../ports/tracker.ts';
import type { Forge } from './forge.ts';

/** Merges if the head still is the expected one. What is refused, and merged all the same, is success too. */
export async function mergeIfUnchanged(
  effect: Extract<Effect, { do: 'merge' }>,
  forge: Forge,
  signal: AbortSignal,
): Promise<MergeOutcome> {
  try {
    // A merge past the forge's own queue would be one that the project asks nobody to make.
    if (await forge.scm.enqueue(effect.request, effect.order, signal)) return { kind: 'queued' };
    await forge.scm.merge(effect.request, effect.order, signal);
    return { kind: 'merged' };
  } catch (error) {
    if (!(error instanceof ScmConflictError) || error.isUnsure) return afterError(effect, error, forge, signal);
    // A push in between is what the expected head guards against: the new one is judged on its own.
    if (error.isBusy || error.headMoved) return { kind: 'postponed', why: error.message };
    return error.alreadyMerged ? { kind: 'merged' } : { kind: 'refused', fault: faultOf(error), unsure: false };
  }
}

/**
 * An error in place of an answer does not tell that nothing was merged, nor does a request that is still open: the forge may
 * be at it. Only an error by which the forge itself refused is sure.
 */
async function afterError(
  { request }: Extract<Effect, { do: 'merge' }>,
  error: unknown,
  forge: Forge,
  signal: AbortSignal,
): Promise<MergeOutcome> {
  try {
    const { merged } = await forge.scm.readMergeStatus(request, signal);
    return merged ? { kind: 'merged' } : { kind: 'refused', fault: faultOf(error), unsure: !isAnswer(error) };
  } catch {
    return { kind: 'refused', fault: faultOf(error), unsure: true };
  }
}

/** Whether the forge said no. A conflict that comes here is one that it did not say no with. */
function isAnswer(error: unknown): boolean {
  return error instanceof TrackerError && error.kind !== 'tracker_transport_error' && !error.isGarbled;
}

/**
 * Deletes a branch, but never the one that the project lives from, nor one that somebody pushed to or made anew since the
 * merge: then it says why not. A forge names its default branch to whoever may delete branches, so one that names none has
 * none to lose.
 */
export async function deleteMergedBranch(
  request: MergeRequestRef,
  mergedSha: string,
  forge: Forge,
  signal: AbortSignal,
): Promise<Fault | null> {
  const kept = await forge.scm.readDefaultBranch(request, signal);
  if (kept === request.branch) return branchKept('it is the default branch of the project');
  const head = await forge.scm.readBranchHead(request, request.branch, signal);
  if (head !== null && head.toLowerCase() !== mergedSha.toLowerCase())
    return branchKept(`it is at ${head.slice(0, 12)} by now, and ${mergedSha.slice(0, 12)} was merged`);
  await forge.scm.deleteBranch(request, request.branch, signal);
  return null;
}

function branchKept(message: string): Fault {
  return { kind: 'scm_branch_kept', message, consequence: 'back-off' };
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
