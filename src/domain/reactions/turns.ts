import { announce, change, putWaiting, type Draft } from '../draft.ts';
import { CONTINUATION_MS } from '../rules/backoff.ts';
import type { ReactionContext, TurnKind } from '../model/reaction.ts';
import { withEntry } from '../model/versioned-map.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import { escalate } from './escalation.ts';
import { intervalOf, PARKED, progressOf, putProgress, reasonToWait, waitFor } from './progress.ts';

/**
 * Queues a run for a reaction. One queued continuation per issue: when the issue is already claimed, nothing changes
 * and the reaction waits for the next look.
 */
export function queueTurn<Kind extends TurnKind>(
  draft: Draft,
  watch: Watch,
  kind: Kind,
  context: ReactionContext,
  progress: ReactionProgress<Kind>,
): void {
  const { issue } = watch;
  const reason = reasonToWait(draft, watch);
  if (reason !== null) return waitFor(draft, watch, kind, reason);
  if (progress.restored === true && !takeFromCommands(draft, watch)) {
    return escalate(draft, watch, kind, 'the budget of the label commands, which had given it another try, is used up');
  }
  const attempt = watch.attempt + 1;
  putProgress(draft, issue.id, kind, {
    ...progress,
    used: progress.used + 1,
    failures: 0,
    nextAt: draft.now + intervalOf(draft, kind),
    waitingFor: 'its turn to end',
  });
  putWaiting(draft, {
    issue,
    attempt,
    failures: 0,
    refusals: 0,
    sessionId: null,
    delayMs: CONTINUATION_MS,
    error: '',
    then: { kind: 'run', trigger: kind, reaction: context },
  });
  change(draft, { judgedUnder: withEntry(draft.state.judgedUnder, issue.id, draft.state.settings) });
  announce(draft, 'reaction:turn:queued', { issue, kind, attempt: progress.used + 1 });
}

/** A budget that a label command gave back is paid for by that of the commands. False when nothing is left of it. */
function takeFromCommands(draft: Draft, { issue }: Watch): boolean {
  const budget = draft.state.settings.reactions.on.label_commands?.budget ?? 0;
  const watch = draft.state.watches.get(issue.id);
  const commands = watch && progressOf(watch, 'label_commands');
  if (!commands || commands.used >= budget) return false;
  putProgress(draft, issue.id, 'label_commands', { ...commands, used: commands.used + 1 });
  return true;
}

/** The turn that was paid for did not begin. */
export function giveToCommands(draft: Draft, issueId: string): void {
  const commands = draft.state.watches.get(issueId)?.reactions.label_commands;
  if (commands) putProgress(draft, issueId, 'label_commands', { ...commands, used: Math.max(0, commands.used - 1) });
}

/** No turn is left: a person is asked, unless one is to release the parked issue first. */
export function outOfTurns<Kind extends TurnKind>(
  draft: Draft,
  watch: Watch,
  kind: Kind,
  why: string,
  changes: Partial<ReactionProgress<Kind>> = {},
): void {
  if (draft.state.parked.has(watch.issue.id)) waitFor(draft, watch, kind, PARKED);
  else escalate(draft, watch, kind, why, changes);
}
