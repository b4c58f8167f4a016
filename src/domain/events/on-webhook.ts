import { changePoll, putWatch, type Draft } from '../draft.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import { SOON_MS } from '../reactions/look-sooner.ts';

/**
 * Somebody says that something changed: the next poll and the looks at merge requests come now, or as soon as the tracker
 * wants to be asked again. Nothing else follows from it.
 */
export function onWebhookReceived(draft: Draft): void {
  if (draft.state.lifecycle !== 'serving') return;
  const { nextAt, waitsUntil } = draft.state.poll;
  changePoll(draft, { nextAt: Math.min(nextAt, Math.max(draft.now, waitsUntil)) });
  for (const watch of draft.state.watches.values()) {
    const sooner = lookNow(watch, draft.now);
    if (sooner !== watch) putWatch(draft, sooner);
  }
}

function lookNow(watch: Watch, now: number): Watch {
  const entries = Object.entries(watch.reactions);
  if (!entries.some(([, progress]) => mayComeSooner(progress, now))) return watch;
  const reactions = entries.map(([kind, progress]) => [
    kind,
    mayComeSooner(progress, now) ? { ...progress, nextAt: now } : progress,
  ]);
  return { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] };
}

/** Not after a failed read: the remote may have asked us to wait. */
function mayComeSooner({ nextAt, failures }: ReactionProgress, now: number): boolean {
  return failures === 0 && nextAt > now + SOON_MS;
}
