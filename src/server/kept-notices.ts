import type { Notice } from '../domain/model/notice.ts';
import type { NoticeBus } from '../ports/events.ts';

/** For one listener that comes late. */
export interface KeptNotices extends Pick<NoticeBus, 'listen'> {
  stop(): void;
}

/** Far more than are announced while the pages are being loaded. Where they cannot be, the oldest go: nobody may ever listen. */
export const MOST_KEPT = 10_000;

/** Keeps what is announced until somebody listens, who then hears it all from the start: no count is lost. */
export function keepNotices(notices: Pick<NoticeBus, 'listen'>): KeptNotices {
  const kept: Notice[] = [];
  let hear = (notice: Notice): void => {
    kept.push(notice);
    if (kept.length > MOST_KEPT) kept.shift();
  };
  const stop = notices.listen((notice) => hear(notice));
  return {
    listen(listener) {
      hear = listener;
      for (const notice of kept.splice(0)) listener(notice);
      return stop;
    },
    stop,
  };
}
