import type { Notice } from '../domain/model/notice.ts';
import type { NoticeBus } from '../ports/events.ts';

/** The bus. A listener that throws is reported and skipped: listeners cannot break the loop. */
export function createNotices(onListenerFault: (fault: unknown) => void): NoticeBus {
  const listeners = new Set<(notice: Notice) => void>();
  return {
    announce(notice) {
      for (const listener of listeners) {
        try {
          listener(notice);
        } catch (fault) {
          onListenerFault(fault);
        }
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
