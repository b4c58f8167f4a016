import { backoffMs } from '../rules/backoff.ts';
import { announce, ask, dropOutbox, settle, putOutbox, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';

/** After this many tries a comment or label is given up, with a warning. */
const MAX_TRIES = 8;
const MAX_DELAY_MS = 10 * 60_000;
/** With the jitter of the backoff. */
export const MAX_WRITE_DELAY_MS = 1.1 * MAX_DELAY_MS;

/** Sends what is due and not already on its way. */
export function sendDueWrites(draft: Draft): void {
  for (const entry of draft.state.outbox.values()) {
    if (entry.dueAt <= draft.now) ask(draft, { do: 'write-out', entry });
  }
}

export function onOutboxAnswered(draft: Draft, event: Extract<Event, { type: 'outbox-answered' }>): void {
  settle(draft, 'write-out', event.id);
  const entry = draft.state.outbox.get(event.id);
  if (entry === undefined) return;
  const { issue, write } = entry;
  if (event.fault === null) {
    dropOutbox(draft, entry.id);
    announce(draft, 'outbox:write:sent', { issue, kind: write.kind });
    return;
  }
  const tries = entry.tries + 1;
  const gaveUp = event.fault.consequence !== 'back-off' || tries >= MAX_TRIES;
  announce(draft, 'outbox:write:failed', { issue, kind: write.kind, error: event.fault.message, gaveUp });
  if (gaveUp) dropOutbox(draft, entry.id);
  else putOutbox(draft, { ...entry, tries, dueAt: draft.now + backoffMs(tries, MAX_DELAY_MS, entry.id) });
}
