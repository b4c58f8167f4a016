import type { Draft } from '../draft.ts';
import { settingsFor } from '../model/state.ts';
import { isQueued } from '../rules/queued-run.ts';
import { stopRun } from './on-issue-states.ts';

/* A run that waits in the queue has not begun: where it may not any more, it is taken back and counts for nothing. */

/** After an edit: what waits for workers that runs are no longer for would wait for ever. */
export function recallMoved(draft: Draft): void {
  const { state } = draft;
  const labels = state.settings.agent.runOn?.join(',');
  recallQueued(draft, (issueId) => settingsFor(state, issueId).agent.runOn?.join(',') !== labels);
}

export function recallQueued(draft: Draft, isMeant: (issueId: string) => boolean): void {
  const { state } = draft;
  for (const live of state.live.values())
    if (isQueued(state, live) && isMeant(live.issue.id)) stopRun(draft, live.issue.id, 'recalled');
}
