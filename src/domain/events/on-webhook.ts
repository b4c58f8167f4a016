import type { Draft } from '../draft.ts';
import { lookNow } from '../reactions/look-sooner.ts';
import { pollAgain } from './poll-stages.ts';

/**
 * Somebody says that something changed: the next poll and the looks at merge requests come now, or as soon as the tracker
 * wants to be asked again. Nothing else follows from it.
 */
export function onWebhookReceived(draft: Draft): void {
  if (draft.state.lifecycle !== 'serving') return;
  pollAgain(draft, Math.max(draft.now, draft.state.poll.waitsUntil));
  for (const watch of draft.state.watches.values()) lookNow(draft, watch);
}
