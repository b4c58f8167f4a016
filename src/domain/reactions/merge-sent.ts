import type { Draft } from '../draft.ts';
import type { ReactionMarks } from '../model/reaction.ts';
import type { Watch } from '../model/watch.ts';
import { onRefused } from './merge-answer.ts';
import { SHOWS_WITHIN_MS } from './merge-attempts.ts';
import { readingOf, SETTLE_MS, type MergeCase } from './merge-reading.ts';
import { couldNotRead, progressOf, waitFor } from './progress.ts';

/** A merge of this head that the forge has taken is waited for, and not judged anew. False where there is none. */
export function followSent(draft: Draft, watch: Watch, facts: MergeCase): boolean {
  const { mark } = progressOf(watch, 'auto_merge');
  if ((mark.at !== 'queued' && mark.at !== 'merged') || mark.headSha !== facts.merge.headSha) return false;
  if (mark.at === 'queued') followQueue(draft, watch, facts, mark);
  else awaitShown(draft, watch, facts, mark.since ?? 0);
  return true;
}

/**
 * The forge's queue merges when its turn comes. A request that is no longer in it was refused, unless the queue merged it after
 * its status was read: only another look tells.
 */
function followQueue(draft: Draft, watch: Watch, { findings: { queue }, settings, merge }: MergeCase, mark: Queued): void {
  if (!queue?.ok) return couldNotRead(draft, watch, 'auto_merge', queue?.fault ?? { message: 'no answer about the merge queue' });
  const { headSha, seen, missedAt } = mark;
  if (queue.value)
    return waitFor(draft, watch, 'auto_merge', 'the merge queue of the forge', { mark: { at: 'queued', headSha, seen } });
  if (missedAt === undefined) {
    const nextAt = draft.now + Math.min(SETTLE_MS, settings.pollIntervalMs);
    return waitFor(draft, watch, 'auto_merge', 'another look: it left the merge queue', {
      mark: { ...mark, missedAt: draft.now },
      nextAt,
    });
  }
  onRefused(draft, watch, settings.budget, {
    headSha: merge.headSha,
    why: 'it left the merge queue unmerged',
    isFinal: false,
    unsure: false,
  });
}

type Queued = Extract<ReactionMarks['auto_merge'], { at: 'queued' }>;

/** The forge said that it merged, and still shows the request open. It is asked again only once that has lasted too long. */
function awaitShown(draft: Draft, watch: Watch, facts: MergeCase, since: number): void {
  const { settings, merge } = facts;
  const waited = draft.now - since;
  if (waited < SHOWS_WITHIN_MS) {
    const nextAt = draft.now + Math.min(settings.pollIntervalMs, Math.max(SETTLE_MS, waited));
    return waitFor(draft, watch, 'auto_merge', 'the forge to show the merge', { nextAt });
  }
  onRefused(draft, watch, settings.budget, {
    headSha: merge.headSha,
    why: 'the forge said that it is merged, and still shows it open',
    isFinal: false,
    unsure: true,
    seen: readingOf(facts),
  });
}
