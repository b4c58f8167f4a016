import { isRefusal, type Fault } from '../model/fault.ts';
import { settle } from '../pending-effects.ts';
import { announce, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import type { Watch } from '../model/watch.ts';
import { attemptsIn } from './merge-attempts.ts';
import type { MergeReading } from './merge-reading.ts';
import { escalate } from './escalation.ts';
import { progressOf, waitFor, waitLonger } from './progress.ts';

/** What became of the merge that was asked for. */
export function onMergeAnswered(draft: Draft, event: Extract<Event, { type: 'merge-answered' }>): void {
  settle(draft, 'merge', event.issueId);
  const watch = draft.state.watches.get(event.issueId);
  const settings = draft.state.settings.reactions.on.auto_merge;
  if (!watch || !settings) return;
  const { outcome, expectedSha: headSha } = event;
  const { number } = watch.mergeRequest;
  switch (outcome.kind) {
    case 'merged':
      announce(draft, 'reaction:merge:succeeded', { issue: watch.issue, number, headSha, byUs: true });
      waitFor(draft, watch, 'auto_merge', settings.deleteBranch ? 'the branch to be deleted' : 'nothing', {
        mark: { at: 'merged', headSha, since: draft.now },
        nextAt: draft.now,
      });
      return;
    case 'queued':
      announce(draft, 'reaction:merge:queued', { issue: watch.issue, number, headSha });
      waitFor(draft, watch, 'auto_merge', 'the merge queue of the forge', {
        mark: { at: 'queued', headSha, seen: seenBy(watch) },
      });
      return;
    case 'postponed':
      return onPostponed(draft, watch, settings.budget, { headSha, why: outcome.why });
    case 'refused': {
      const { fault, unsure } = outcome;
      if (fault.isLimit) return onLimited(draft, watch, { headSha, fault, unsure });
      onRefused(draft, watch, settings.budget, { headSha, why: fault.message, isFinal: isRefusal(fault), unsure });
    }
  }
}

/** How often a forge may ask to come again for one head. */
const MAX_POSTPONED = 10;

/** Costs nothing at first and is told once for a head. A forge that asks for ever has refused. */
function onPostponed(draft: Draft, watch: Watch, budget: number, { headSha, why }: Pick<MergeRefusal, 'headSha' | 'why'>): void {
  const before = attemptsIn(progressOf(watch, 'auto_merge').mark);
  const postponed = (before.postponed ?? 0) + 1;
  if (postponed > MAX_POSTPONED) return onRefused(draft, watch, budget, { headSha, why, isFinal: false, unsure: false });
  const { number } = watch.mergeRequest;
  if (postponed === 1) announce(draft, 'reaction:merge:postponed', { issue: watch.issue, number, headSha, why });
  waitFor(draft, watch, 'auto_merge', `the forge, which asks to come again: ${why}`, {
    // What was waited for before the try need not be waited for again.
    mark: { at: 'waiting', headSha, bareSince: 0, ...before, postponed },
  });
}

/** A limit of requests is no word about the merge, which is tried anew once the forge may be asked again. */
function onLimited(draft: Draft, watch: Watch, { headSha, fault, unsure }: Limited): void {
  const { number } = watch.mergeRequest;
  const { message: why } = fault;
  announce(draft, 'reaction:merge:postponed', { issue: watch.issue, number, headSha, why });
  const attempts = { ...attemptsIn(progressOf(watch, 'auto_merge').mark), ...(unsure && { unsureSince: draft.now }) };
  const mark = { at: 'waiting', headSha, bareSince: 0, ...attempts } as const;
  waitLonger(draft, watch, 'auto_merge', `the forge, which asks to come again: ${why}`, { fault, changes: { mark } });
}

interface Limited {
  readonly headSha: string;
  readonly fault: Fault;
  readonly unsure: boolean;
}

interface MergeRefusal {
  readonly headSha: string;
  readonly why: string;
  /** Trying again cannot help. */
  readonly isFinal: boolean;
  readonly unsure: boolean;
  /** What it was tried on, where the mark does not tell. */
  readonly seen?: MergeReading;
}

/** Tried again as often as `max_retries` says, unless trying again cannot help; then a person is asked. */
export function onRefused(draft: Draft, watch: Watch, budget: number, refusal: MergeRefusal): void {
  const { headSha, why, isFinal, unsure, seen = seenBy(watch) } = refusal;
  const used = progressOf(watch, 'auto_merge').used + 1;
  announce(draft, 'reaction:merge:failed', { issue: watch.issue, number: watch.mergeRequest.number, error: why });
  const { postponed } = attemptsIn(progressOf(watch, 'auto_merge').mark);
  const attempts = { ...(unsure && { unsureSince: draft.now }), ...(postponed !== undefined && { postponed }) };
  const mark = { at: 'refused', headSha, seen, unsure, ...attempts } as const;
  if (isFinal) return escalate(draft, watch, 'auto_merge', why, { mark, used });
  if (used <= budget) return waitFor(draft, watch, 'auto_merge', `another try after: ${why}`, { mark, used });
  const count = used === 1 ? 'the merge was refused' : `${used} merges were refused; the last`;
  escalate(draft, watch, 'auto_merge', `${count}: ${why}`, { mark, used });
}

/** What the merge under way was tried on. */
function seenBy(watch: Watch): MergeReading {
  const { mark } = progressOf(watch, 'auto_merge');
  return 'seen' in mark ? mark.seen : { decision: '', mergeability: '', ci: '' };
}
