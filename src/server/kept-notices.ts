import type { Notice } from '../domain/model/notice.ts';
import type { NoticeBus } from '../ports/events.ts';

/** For one listener that comes late. */
export interface KeptNotices extends Pick<NoticeBus, 'listen'> {
  stop(): void;
}

/** Keeps what is announced until somebody listens, who then hears it all from the start: no count is lost. */
export function keepNotices(notices: Pick<NoticeBus, 'listen'>): KeptNotices {
  const kept: Notice[] = [];
  let hear = (notice: Notice): void => void kept.push(notice);
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
