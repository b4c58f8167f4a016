import { ask, settle } from '../pending-effects.ts';
import { announce, putWatch, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { Watch } from '../model/watch.ts';
import { mayHaveMerged, mustDeleteBranch } from './after-merge.ts';
import { isPutOff, progressOf, putProgress, waitFor, waitLonger } from './progress.ts';

/** The request turns out to be merged, which is told once. One whose answer was lost was ours. */
export function noteMerged(draft: Draft, watch: Watch, merge: MergeStatus): void {
  const { mark } = progressOf(watch, 'auto_merge');
  if (mark.at === 'merged' || mark.at === 'tidied' || watch.facts.mergedByOthers) return;
  const byUs = mayHaveMerged(mark);
  const headSha = byUs && 'headSha' in mark ? mark.headSha : merge.headSha;
  announce(draft, 'reaction:merge:succeeded', { issue: watch.issue, number: watch.mergeRequest.number, headSha, byUs });
  if (!byUs) return putWatch(draft, { ...watch, facts: { ...watch.facts, mergedByOthers: true } });
  waitFor(draft, watch, 'auto_merge', 'nothing', {
    mark: { at: 'merged', headSha, since: draft.now },
    escalated: false,
  });
}

/** After a merge of ours: the branch goes where asked. True while there is still something to do. */
export function tidyBranch(draft: Draft, watch: Watch, merge: MergeStatus): boolean {
  if (!mustDeleteBranch(draft.state, watch)) return false;
  if (isPutOff(progressOf(watch, 'auto_merge'), draft.now)) return true;
  const { issue, mergeRequest } = watch;
  const reason = reasonToKeep(mergeRequest.branch, merge);
  if (reason !== null) {
    announce(draft, 'reaction:branch:kept', { issue, branch: mergeRequest.branch, error: reason });
    waitFor(draft, watch, 'auto_merge', 'nothing', { mark: { at: 'tidied' } });
    return false;
  }
  const { mark } = progressOf(watch, 'auto_merge');
  const headSha = 'headSha' in mark ? mark.headSha : merge.headSha;
  ask(draft, { do: 'delete-branch', issueId: issue.id, request: mergeRequest, headSha });
  waitFor(draft, watch, 'auto_merge', 'the branch to be deleted');
  return true;
}

/** The name comes from a file in the workspace, which the agent can write: only what the forge calls the head is deleted. */
function reasonToKeep(branch: string, merge: MergeStatus): string | null {
  if (branch === merge.baseBranch) return 'it is the branch that was merged into';
  if (merge.fork) return 'the merged branch is in a fork';
  if (merge.headBranch === branch) return null;
  return `the merged branch is ${JSON.stringify(merge.headBranch)}, says the forge`;
}

/** Deleted or not: the merge stands. A limit of requests is waited for. */
export function onBranchDeleted(draft: Draft, event: Extract<Event, { type: 'branch-deleted' }>): void {
  settle(draft, 'delete-branch', event.issueId);
  const watch = draft.state.watches.get(event.issueId);
  if (!watch) return;
  const { issue, mergeRequest } = watch;
  const { fault } = event;
  if (fault?.isLimit)
    return waitLonger(draft, watch, 'auto_merge', `another try to delete the branch: ${fault.message}`, { fault });
  if (fault === null) announce(draft, 'reaction:branch:deleted', { issue, branch: mergeRequest.branch });
  else announce(draft, 'reaction:branch:kept', { issue, branch: mergeRequest.branch, error: fault.message });
  putProgress(draft, issue.id, 'auto_merge', {
    ...progressOf(watch, 'auto_merge'),
    mark: { at: 'tidied' },
    nextAt: draft.now,
    waitingFor: 'nothing',
  });
}
