import { ask } from '../pending-effects.ts';
import { dropApproval, putApproval, type Draft } from '../draft.ts';
import type { Issue, IssueRef } from '../model/issue.ts';
import type { State } from '../model/state.ts';
import { isNewApproval } from '../rules/trust.ts';

/** So many issues that carry the approval label for the first time are read whole at one poll. */
export const FIRST_SIGHTS_PER_POLL = 20;

/** What the issue says at the first sight of its label is what was approved; without the label nothing is. */
export function noteApproval(draft: Draft, issue: Issue): void {
  const label = draft.state.settings.tracker.approvalLabel;
  if (label === null) return;
  if (!issue.labels.includes(label)) return dropApproval(draft, issue.id);
  const { approvable } = issue;
  if (!approvable) return;
  const known = draft.state.approvals.get(issue.id);
  if (known && !isNewApproval(known, approvable, label)) return;
  putApproval(draft, { issueId: issue.id, label, ...approvable, seenAt: draft.now });
}

/** Whether the label is there and was never seen: then the text is to be read before anybody can change it. */
export function isFirstSight(state: State, issue: Issue): boolean {
  const label = state.settings.tracker.approvalLabel;
  return label !== null && issue.labels.includes(label) && state.approvals.get(issue.id)?.label !== label;
}

export function readFirstSights(draft: Draft, issues: readonly IssueRef[]): void {
  if (draft.state.lifecycle !== 'serving') return;
  for (const issue of issues) ask(draft, { do: 'read-candidate', issue });
}
