import type { Draft } from '../draft.ts';
import { lookNow } from '../reactions/look-sooner.ts';
import { pollSoon } from './poll-stages.ts';

/**
 * Somebody says that something changed: the next poll and the looks at merge requests come now, or as soon as the tracker
 * wants to be asked again. A poll that waits for the tracker's quota waits on. Nothing else follows from it.
 */
export function onWebhookReceived(draft: Draft): void {
  if (draft.state.lifecycle !== 'serving') return;
  pollSoon(draft);
  for (const watch of draft.state.watches.values()) lookNow(draft, watch);
}
