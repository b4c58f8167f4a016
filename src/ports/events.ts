import type { Notice } from '../domain/model/notice.ts';

/** Where everything worth telling is told. A listener that throws is logged and harms nobody. */
export interface NoticeBus {
  announce(notice: Notice): void;
  /** Returns the way to stop listening. */
  listen(listener: (notice: Notice) => void): () => void;
}
