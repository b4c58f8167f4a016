import { announce, ask, change, settle, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import type { CiConclusion, MergeStatus, ReviewDecision } from '../model/merge-request.ts';
import type { ReactionOptions } from '../model/settings.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import type { Findings } from './findings.ts';
import { mustDeleteBranch } from './after-merge.ts';
import { couldNotRead, escalate, isWorkedOn, progressOf, putProgress, waitFor } from './progress.ts';
import type { Look, Reaction } from './reaction.ts';

export const AUTO_MERGE: Reaction<'auto_merge'> = {
  kind: 'auto_merge',
  needs: ['scope', 'decision', 'gate'],
  prompt: null,
  judge: judgeAutoMerge,
};

/** A forge recomputes mergeability within a moment after a push or an approval: a first clean reading is looked at again after this. */
const SETTLE_MS = 2_000;

type AutoMerge = ReactionOptions['auto_merge'];

/**
 * Fail-safe: every precondition must have been read and hold, twice in a row for the same head and decision, and the
 * merge itself carries the expected head. What is unknown is never clean.
 */
function judgeAutoMerge(draft: Draft, watch: Watch, { merge, findings }: Look): void {
  const settings = draft.state.settings.reactions.on.auto_merge;
  if (!settings) return;
  const hold = reasonToHold(draft, watch, findings);
  if (hold !== null) return waitFor(draft, watch, 'auto_merge', hold);
  const { decision, gate } = findings;
  if (!decision?.ok) return couldNotRead(draft, watch, 'auto_merge', decision?.fault.message ?? 'no review decision');
  if (!gate?.ok) return couldNotRead(draft, watch, 'auto_merge', gate?.fault.message ?? 'no CI status');
  const obstacle = obstacleTo(settings, merge, decision.value, gate.value);
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'auto_merge',
    result: obstacle === null ? 'ready' : 'waiting',
    detail: obstacle ?? merge.headSha,
  });
  const forHead = budgetFor(progressOf(watch, 'auto_merge'), merge.headSha);
  if (obstacle !== null)
    return waitFor(draft, watch, 'auto_merge', obstacle, { ...forHead, mark: { at: 'waiting', headSha: merge.headSha } });
  mergeWhenSettled(draft, watch, settings, merge, decision.value);
}

/** Refusals are counted for a head; another one is tried with a budget of its own. */
function budgetFor(
  { mark, used, escalated }: ReactionProgress<'auto_merge'>,
  headSha: string,
): Pick<ReactionProgress, 'used' | 'escalated'> {
  const isKnown = headSha !== '' && 'headSha' in mark && mark.headSha === headSha;
  return isKnown ? { used, escalated } : { used: 0, escalated: false };
}

/** What keeps us from judging at all. A run that is queued or goes on may push. */
function reasonToHold(draft: Draft, watch: Watch, findings: Findings): string | null {
  const off = draft.state.autoMergeOff ?? offFrom(draft, findings);
  return off ?? (isWorkedOn(draft, watch) ? 'the run under way to end' : null);
}

/** A credential that provably may not merge switches auto-merge off for the life of the process. */
function offFrom(draft: Draft, { scope }: Findings): string | null {
  if (!scope?.ok || scope.value.mayMerge !== 'no') return null;
  const why = `off for this process: ${scope.value.detail}`;
  change(draft, { autoMergeOff: why });
  announce(draft, 'reaction:merge:disabled', { why: scope.value.detail });
  return why;
}

/** The first precondition that does not hold, for people; null when all do. */
export function obstacleTo(settings: AutoMerge, merge: MergeStatus, decision: ReviewDecision, ci: CiConclusion): string | null {
  if (merge.draft) return 'the draft to be marked ready';
  if (merge.headSha === '') return 'the forge to name the head';
  if (merge.mergeability !== 'clean') return MERGEABILITY_OBSTACLES[merge.mergeability];
  if (decision !== 'APPROVED' && decision !== 'NOT_REQUIRED') return DECISION_OBSTACLES[decision];
  if (!settings.requireCi || ci === 'success' || ci === '') return null;
  return ci === 'failing' ? 'CI to be fixed' : 'CI to finish';
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

function mergeWhenSettled(draft: Draft, watch: Watch, settings: AutoMerge, merge: MergeStatus, decision: string): void {
  const { issue, mergeRequest } = watch;
  const progress = progressOf(watch, 'auto_merge');
  const { headSha } = merge;
  const ready = { at: 'ready', headSha, decision } as const;
  const { mark } = progress;
  const forHead = budgetFor(progress, merge.headSha);
  if (forHead.escalated) return waitFor(draft, watch, 'auto_merge', 'a person');
  if (mark.at !== 'ready' || mark.headSha !== headSha || mark.decision !== decision) {
    const nextAt = draft.now + Math.min(SETTLE_MS, settings.pollIntervalMs);
    return waitFor(draft, watch, 'auto_merge', 'a second clean reading', { ...forHead, mark: ready, nextAt });
  }
  if (settings.dryRun) {
    announce(draft, 'reaction:merge:would', {
      issue,
      number: mergeRequest.number,
      headSha: merge.headSha,
      strategy: settings.strategy,
    });
    return waitFor(
      draft,
      watch,
      'auto_merge',
      `nothing: it would be merged now (${settings.strategy} of ${merge.headSha.slice(0, 12)}), but dry_run is on`,
      { mark: ready },
    );
  }
  const asked = ask(draft, {
    do: 'merge',
    issueId: issue.id,
    request: mergeRequest,
    order: { strategy: settings.strategy, expectedSha: merge.headSha },
  });
  if (asked) waitFor(draft, watch, 'auto_merge', 'the merge to finish', { mark: { at: 'merging', headSha: merge.headSha } });
}

export function onMergeAnswered(draft: Draft, event: Extract<Event, { type: 'merge-answered' }>): void {
  settle(draft, 'merge', event.issueId);
  const watch = draft.state.watches.get(event.issueId);
  const settings = draft.state.settings.reactions.on.auto_merge;
  if (!watch || !settings) return;
  const { issue, mergeRequest } = watch;
  const { outcome } = event;
  if (outcome.kind === 'merged') {
    announce(draft, 'reaction:merge:succeeded', {
      issue,
      number: mergeRequest.number,
      headSha: event.expectedSha,
      byUs: outcome.byUs,
    });
    waitFor(draft, watch, 'auto_merge', settings.deleteBranch ? 'the branch to be deleted' : 'nothing', {
      mark: { at: 'merged', headSha: event.expectedSha },
      nextAt: draft.now,
    });
    return;
  }
  const progress = progressOf(watch, 'auto_merge');
  const used = progress.used + 1;
  announce(draft, 'reaction:merge:failed', { issue, number: mergeRequest.number, error: outcome.fault.message });
  const mark = { at: 'refused', headSha: event.expectedSha } as const;
  if (outcome.fault.kind === 'tracker_auth_error' || outcome.fault.kind === 'tracker_payload_error') {
    return escalate(draft, watch, 'auto_merge', outcome.fault.message, { mark, used });
  }
  if (settings.budget > 0 && used >= settings.budget) {
    return escalate(draft, watch, 'auto_merge', `${used} merges were refused; the last: ${outcome.fault.message}`, {
      mark,
      used,
    });
  }
  waitFor(draft, watch, 'auto_merge', `another try after: ${outcome.fault.message}`, { mark, used });
}

/** After a merge of ours: the branch goes where asked. True while there is still something to do. */
export function tidyBranch(draft: Draft, watch: Watch, merge: MergeStatus): boolean {
  if (!mustDeleteBranch(draft.state, watch)) return false;
  const { issue, mergeRequest } = watch;
  const reason = reasonToKeep(mergeRequest.branch, merge);
  if (reason !== null) announce(draft, 'reaction:branch:kept', { issue, branch: mergeRequest.branch, error: reason });
  if (reason !== null || isGone(merge)) {
    waitFor(draft, watch, 'auto_merge', 'nothing', { mark: { at: 'tidied' } });
    return false;
  }
  ask(draft, { do: 'delete-branch', issueId: issue.id, request: mergeRequest });
  waitFor(draft, watch, 'auto_merge', 'the branch to be deleted');
  return true;
}

/** The name comes from a file in the workspace, which the agent can write: only what the forge calls the head is deleted. */
function reasonToKeep(branch: string, { headBranch, baseBranch }: MergeStatus): string | null {
  if (branch === baseBranch) return 'it is the branch that was merged into';
  if (headBranch === '' || headBranch === branch || isGone({ headBranch })) return null;
  return `the merged branch is ${JSON.stringify(headBranch)}, says the forge`;
}

/** Where the branch was deleted, Gitea and Forgejo name a hidden reference instead. */
function isGone({ headBranch }: Pick<MergeStatus, 'headBranch'>): boolean {
  return headBranch.startsWith('refs/');
}

/** Deleted or not: the merge stands. */
export function onBranchDeleted(draft: Draft, event: Extract<Event, { type: 'branch-deleted' }>): void {
  settle(draft, 'delete-branch', event.issueId);
  const watch = draft.state.watches.get(event.issueId);
  if (!watch) return;
  const { issue, mergeRequest } = watch;
  if (event.fault === null) announce(draft, 'reaction:branch:deleted', { issue, branch: mergeRequest.branch });
  else announce(draft, 'reaction:branch:kept', { issue, branch: mergeRequest.branch, error: event.fault.message });
  putProgress(draft, issue.id, 'auto_merge', {
    ...progressOf(watch, 'auto_merge'),
    mark: { at: 'tidied' },
    nextAt: draft.now,
    waitingFor: 'nothing',
  });
}
