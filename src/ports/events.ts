import type { Notice } from '../domain/model/notice.ts';
import type { NotificationEntry } from '../domain/model/notification.ts';

/** Where everything worth telling is told. A listener that throws is logged and harms nobody. */
export interface NoticeBus {
  announce(notice: Notice): void;
  /** Returns the way to stop listening. */
  listen(listener: (notice: Notice) => void): () => void;
}

/** Tells people outside. Failures are NotificationErrors; none of them names the address. */
export interface Notifier {
  send(entry: NotificationEntry, signal: AbortSignal): Promise<void>;
}
