import type { Draft } from '../draft.ts';
import type { Issue } from '../model/issue.ts';
import { settingsFor, type Live } from '../model/state.ts';
import { isQueued } from '../rules/queued-run.ts';
import { approvalHold } from '../rules/trust.ts';
import { stopRun } from './on-issue-states.ts';

/* A run that waits in the queue has not begun: where it may not any more, it is taken back and counts for nothing. */

/** After an edit: what waits for workers that runs are no longer for would wait for ever. */
export function recallMoved(draft: Draft): void {
  const { state } = draft;
  const labels = state.settings.agent.runOn?.join(',');
  for (const live of state.live.values())
    if (settingsFor(state, live.issue.id).agent.runOn?.join(',') !== labels) recall(draft, live);
}

/** After its tracker was left. */
export function recallAll(draft: Draft): void {
  for (const live of draft.state.live.values()) recall(draft, live);
}

/** After its label was taken off, which a list shows. A text that was changed since is not in its prompt: that has what was approved. */
export function recallUnapproved(draft: Draft, issue: Issue): void {
  const live = draft.state.live.get(issue.id);
  if (live !== undefined && approvalHold(draft.state, issue)?.reason === 'not_approved') recall(draft, live);
}

/** Only where no worker has it. */
function recall(draft: Draft, live: Live): void {
  if (isQueued(draft.state, live)) stopRun(draft, live.issue.id, 'recalled');
}
