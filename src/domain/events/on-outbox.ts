import { backoffMs } from '../rules/backoff.ts';
import { askedWaitMs } from '../rules/quota.ts';
import { ask, pendingWrites, settle } from '../pending-effects.ts';
import { announce, dropOutbox, putOutbox, type Draft } from '../draft.ts';
import type { OutboxEntry, TrackerWrite } from '../model/claim.ts';
import type { Fault } from '../model/fault.ts';
import type { Event } from '../model/event.ts';
import { isNotification, type NotificationEntry } from '../model/notification.ts';
import type { State } from '../model/state.ts';

/** After this many tries a comment or label is given up, with a warning. */
const MAX_TRIES = 8;
const MAX_DELAY_MS = 10 * 60_000;
/** A receiver that asks for no wait at all, or for a moment that is over, would be asked without a rest. */
const LEAST_DELAY_MS = 1_000;
/** With the jitter of the backoff. */
export const MAX_WRITE_DELAY_MS = 1.1 * MAX_DELAY_MS;
/** A message that nobody could be told for so long is given up. */
const MESSAGE_LIFE_MS = 24 * 3_600_000;

/** Sends what is due and not already on its way. */
export function sendDueWrites(draft: Draft): void {
  for (const entry of draft.state.outbox.values()) if (isNotification(entry)) dropUnaddressed(draft, entry);
  for (const entry of nextWrites(draft.state)) {
    const { settings, writeSettings } = draft.state;
    if (entry.dueAt <= draft.now) ask(draft, { do: 'write-out', entry, settings: writeSettings.get(entry.id) ?? settings });
  }
}

/** What may be sent next. Each target of notifications hears one thing after the other, in the order it happened. */
export function nextWrites(state: State): readonly OutboxEntry[] {
  const served = new Set<string>();
  return [...state.outbox.values()].filter((entry) => {
    if (!isNotification(entry)) return true;
    const isFirst = !served.has(entry.write.target);
    served.add(entry.write.target);
    return isFirst;
  });
}

/** How long a stopping service waits for a receiver. What it does not take is stored, and told after the next start. */
const MESSAGE_GRACE_MS = 2_000;

/** Until when a stopping service waits for the writes under way: not at all where there are none, for ever where one is no message. */
export function waitsForWritesUntil(state: State): number {
  if (pendingWrites(state).some((name) => name !== 'write-out')) return Infinity;
  const sending = [...(state.pending['write-out']?.keys() ?? [])].map((id) => state.outbox.get(id));
  return Math.max(...sending.map((entry) => (entry && isNotification(entry) ? entry.dueAt + MESSAGE_GRACE_MS : Infinity)));
}

/** Its target is no longer in the workflow file. */
function dropUnaddressed(draft: Draft, { id, write: { target, event }, tries }: NotificationEntry): void {
  if (draft.state.settings.notifications.some(({ name }) => name === target)) return;
  dropOutbox(draft, id);
  const error = 'the target is no longer in the workflow file';
  announce(draft, 'notification:message:failed', { target, event, error, tries, gaveUp: true });
}

export function onOutboxAnswered(draft: Draft, event: Extract<Event, { type: 'outbox-answered' }>): void {
  settle(draft, 'write-out', event.id);
  const entry = draft.state.outbox.get(event.id);
  if (entry === undefined) return;
  if (event.fault === null) return onSent(draft, entry);
  if (isNotification(entry)) return onMessageFailed(draft, entry, event.fault);
  onWriteFailed(draft, entry, entry.write as TrackerWrite, event.fault);
}

function onSent(draft: Draft, entry: OutboxEntry): void {
  const { id, issue, write } = entry;
  dropOutbox(draft, id);
  if (write.kind === 'notification') announce(draft, 'notification:message:sent', { target: write.target, event: write.event });
  else announce(draft, 'outbox:write:sent', { issue, kind: write.kind });
}

function onWriteFailed(draft: Draft, entry: OutboxEntry, write: TrackerWrite, fault: Fault): void {
  const tries = entry.tries + 1;
  const gaveUp = fault.consequence !== 'back-off' || tries >= MAX_TRIES;
  announce(draft, 'outbox:write:failed', { issue: entry.issue, kind: write.kind, error: fault.message, gaveUp });
  if (gaveUp) dropOutbox(draft, entry.id);
  else
    putOutbox(draft, {
      ...entry,
      tries,
      dueAt: draft.now + Math.max(backoffMs(tries, MAX_DELAY_MS, entry.id), askedWaitMs(fault)),
    });
}

/** Whatever is wrong may be put right at the other end, so it is tried for a day. The receiver's own timing wins. */
function onMessageFailed(draft: Draft, entry: NotificationEntry, fault: Fault): void {
  const { target, event, at } = entry.write;
  const tries = entry.tries + 1;
  const gaveUp = draft.now - at >= MESSAGE_LIFE_MS;
  announce(draft, 'notification:message:failed', { target, event, error: fault.message, tries, gaveUp });
  if (gaveUp) return dropOutbox(draft, entry.id);
  const wanted = Math.max(fault.retryAfterMs ?? backoffMs(tries, MAX_DELAY_MS, entry.id), LEAST_DELAY_MS);
  const delay = Math.min(wanted, MAX_DELAY_MS);
  putOutbox(draft, { ...entry, tries, dueAt: draft.now + delay, write: { ...entry.write, error: fault.message } });
}
