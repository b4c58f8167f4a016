import type { NotificationEntry } from '../domain/model/notification.ts';

/** Tells people outside. Failures are NotificationErrors; none of them names the address. */
export interface Notifier {
  send(entry: NotificationEntry, signal: AbortSignal): Promise<void>;
}
