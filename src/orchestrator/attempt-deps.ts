import type { Event } from '../domain/model/event.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { Adapters } from './adapters.ts';

/** What an attempt works with and whom it tells. */
export interface AttemptDeps {
  readonly adapters: Adapters;
  readonly report: (event: Event) => void;
  readonly announce: (notice: Notice) => void;
  /** Aborts even what a stopped run still does to leave things tidy. */
  readonly killed: AbortSignal;
}
