import type { EffectNamed } from '../../domain/model/effect.ts';
import type { AnswerTo } from '../../domain/model/event.ts';
import { complete, deleteMergedBranch, mergeIfUnchanged } from './act.ts';
import type { Forge } from './forge.ts';
import { inspect } from './inspect.ts';
import type { InterpretDeps } from '../effect-deps.ts';

/** Reads what the merge request says now. */
export async function lookAt(deps: InterpretDeps, effect: EffectNamed<'inspect'>): Promise<AnswerTo<'inspect'>> {
  const { tracker } = deps.adapters();
  const { issue, mergeRequest, armedAt, facts } = effect.watch;
  const findings = await inspect(effect, tracker, forgeOf(deps), deps.killed);
  return {
    type: 'inspected',
    issueId: issue.id,
    number: mergeRequest.number,
    armedAt,
    runs: facts.runs,
    due: effect.due,
    findings,
  };
}

/** Merges what was judged, or nothing. */
export async function mergeRequest(deps: InterpretDeps, effect: EffectNamed<'merge'>): Promise<AnswerTo<'merge'>> {
  const outcome = await mergeIfUnchanged(effect, forgeOf(deps), deps.killed);
  return { type: 'merge-answered', issueId: effect.issueId, expectedSha: effect.order.expectedSha, outcome };
}

/** Deletes the branch of a request that is merged. */
export async function deleteRequestBranch(
  deps: InterpretDeps,
  { issueId, request, headSha }: EffectNamed<'delete-branch'>,
): Promise<AnswerTo<'delete-branch'>> {
  const fault = await deleteMergedBranch(request, headSha, forgeOf(deps), deps.killed);
  return { type: 'branch-deleted', issueId, fault };
}

/** Takes a label that was obeyed off the request. */
export async function removeRequestLabel(
  deps: InterpretDeps,
  { issue, request, label }: EffectNamed<'remove-label'>,
): Promise<AnswerTo<'remove-label'>> {
  await forgeOf(deps).scm.removeLabel(request, label, deps.killed);
  return { type: 'label-removed', issue, label, fault: null };
}

/** Moves the issue of a merged request to where it ends. */
export async function completeIssue(deps: InterpretDeps, effect: EffectNamed<'complete'>): Promise<AnswerTo<'complete'>> {
  await complete(effect, deps.adapters().tracker, deps.killed);
  return { type: 'completion-answered', issueId: effect.issue.id, fault: null };
}

function forgeOf(deps: InterpretDeps): Forge {
  const { forge } = deps.adapters();
  if (forge === null) throw new Error('a reaction is active without a forge');
  return forge;
}
