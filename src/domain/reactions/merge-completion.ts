import { isRefusal } from '../model/fault.ts';
import { removeWorkspaceOf } from '../workspace-records.ts';
import { ask, outdateReads, settle } from '../pending-effects.ts';
import { announce, forgetHold, outdatePoll, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import { sameState } from '../model/issue.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import { askedWaitMs } from '../rules/quota.ts';
import { escalate, personFor } from './escalation.ts';
import { endWatch, isPutOff, isWorkedOn, progressOf, putProgress, waitFor, waitLonger } from './progress.ts';
import type { Declaration, Reaction } from './reaction.ts';
import { NO_MARK } from '../model/reaction.ts';

const declaration = {
  kind: 'merge_completion',
  about: 'Finish the issue when its request is merged.',
  defaults: { pollIntervalMs: 60_000, watchWindowMs: 0, budget: 2 },
  keys: {
    target_state: {
      type: 'filled text',
      default: 'done',
      names: 'state',
      about: 'State of the issue once its request is merged; one of `tracker.terminal_states`.',
    },
  },
  // The move of the issue was asked for. Once a person was asked, `left`: the state that it was first seen to have left, and
  // `againAt`: when it is tried again, absent where that cannot help.
  marks: { begun: { left: 'text or absent', againAt: 'number or absent' } },
  prompt: null,
} as const satisfies Declaration;

export const MERGE_COMPLETION: Reaction<typeof declaration> = {
  ...declaration,
  needs: () => [],
  judge(draft, watch) {
    noteCheck(draft, watch, 'waiting');
    waitFor(draft, watch, 'merge_completion', 'the merge');
  },
  // What was begun may be half done, whoever has it tried again.
  keepsMark: true,
};

function noteCheck(draft: Draft, { issue }: Watch, result: 'waiting' | 'merged'): void {
  announce(draft, 'reaction:check:completed', { issue, kind: 'merge_completion', result, detail: '' });
}

/** How long a move that a person was asked about rests, where it may heal by itself. */
const REST_MS = 5 * 60_000;

/** The request is merged, by whomever: the issue moves on. True while there is still something to do. */
export function completeMerge(draft: Draft, watch: Watch): boolean {
  const settings = draft.state.settings.reactions.on.merge_completion;
  if (!settings) return false;
  noteCheck(draft, watch, 'merged');
  const { issue } = watch;
  const progress = progressOf(watch, 'merge_completion');
  if (isPutOff(progress, draft.now)) return true;
  const reason = reasonToRest(draft, watch, progress);
  if (reason !== null) {
    waitFor(draft, watch, 'merge_completion', reason);
    return true;
  }
  const { mark, failures } = progress;
  const target = settings.targetState;
  const isAsked = ask(draft, { do: 'complete', issue, target, begun: mark.at === 'begun' });
  // What the move leaves this time may be another state.
  const begun = { at: 'begun', ...againIn(mark) } as const;
  if (isAsked) waitFor(draft, watch, 'merge_completion', `the issue to move to "${target}"`, { mark: begun, failures });
  return true;
}

/** What keeps the issue from being moved now, for people; null when nothing does. */
function reasonToRest(draft: Draft, watch: Watch, { mark, escalated, asked }: Progress): string | null {
  const { againAt = Infinity } = againIn(mark);
  if (escalated && againAt > draft.now) return personFor(asked?.why);
  if (!draft.state.claims.has(watch.issue.id)) return null;
  return isWorkedOn(draft, watch) ? 'the run under way to end' : 'the handoff to finish';
}

type Progress = ReactionProgress<'merge_completion'>;

/** When a move that a person was asked about is tried again, where it is. */
function againIn(mark: Progress['mark']): { readonly againAt?: number } {
  return mark.at === 'begun' && mark.againAt !== undefined ? { againAt: mark.againAt } : {};
}

/** A move that failed for good keeps its issue from being worked on, as parking does: until its state is another one. */
export function noteLeft(draft: Draft, watch: Watch, issueState: string): void {
  const progress = progressOf(watch, 'merge_completion');
  const { mark, escalated } = progress;
  if (!escalated || mark.at !== 'begun' || (mark.left !== undefined && sameState(mark.left, issueState))) return;
  const next = mark.left === undefined ? ({ ...mark, left: issueState } as const) : NO_MARK;
  putProgress(draft, watch.issue.id, 'merge_completion', { ...progress, mark: next });
}

export function onCompletionAnswered(draft: Draft, event: Extract<Event, { type: 'completion-answered' }>): void {
  settle(draft, 'complete', event.issueId);
  // What was read meanwhile may show the issue half way.
  outdatePoll(draft, event.issueId);
  outdateReads(draft, event.issueId);
  const watch = draft.state.watches.get(event.issueId);
  const settings = draft.state.settings.reactions.on.merge_completion;
  if (!watch || !settings) return;
  const { issue } = watch;
  const { fault } = event;
  if (fault === null) {
    forgetHold(draft, issue.id, settings.targetState);
    announce(draft, 'reaction:completion:succeeded', { issue, state: settings.targetState });
    endWatch(draft, watch, 'merged and completed');
    removeWorkspaceOf(draft, issue, 'its merge request is merged');
    return;
  }
  announce(draft, 'reaction:completion:failed', { issue, state: settings.targetState, error: fault.message });
  if (fault.kind === 'tracker_not_found') return endWatch(draft, watch, 'the tracker no longer has the issue');
  const later = `another try after: ${fault.message}`;
  if (fault.isLimit) return waitLonger(draft, watch, 'merge_completion', later, { fault });
  const used = progressOf(watch, 'merge_completion').used + 1;
  if (isRefusal(fault) || used > settings.budget) {
    const again = isRefusal(fault) ? {} : { againAt: draft.now + Math.max(REST_MS, askedWaitMs(fault)) };
    // The next look, which is due at once, tells what the move left.
    const changes = { used, mark: { at: 'begun', ...again }, nextAt: draft.now } as const;
    return escalate(draft, watch, 'merge_completion', fault.message, changes);
  }
  waitLonger(draft, watch, 'merge_completion', later, { fault, changes: { used } });
}
