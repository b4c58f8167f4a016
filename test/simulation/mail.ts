import type { Event } from '../../src/domain/model/event.ts';
import type { Chance } from '../support/random.ts';

/** Events on their way to the loop of a tracker. */
export interface Mail {
  /** Arrives within so many milliseconds. */
  send(event: Event, now: number, spread: number, runId?: string): void;
  sendAt(at: number, event: Event, runId: string): void;
  /** The earliest that is due, or null. */
  take(now: number): Event | null;
  nextAt(): number;
  /** What a run still had to say is lost. */
  dropOf(runId: string): void;
  lose(): void;
  /** Somebody set the clock: what is on its way takes as long as before. */
  shift(byMs: number): void;
}

export function createMail(chance: Chance): Mail {
  let queue: { at: number; event: Event; runId?: string }[] = [];
  return {
    send: (event, now, spread, runId) =>
      void queue.push({ at: now + 1 + chance.below(spread), event, ...(runId ? { runId } : {}) }),
    sendAt: (at, event, runId) => void queue.push({ at, event, runId }),
    take(now) {
      let due: (typeof queue)[number] | undefined;
      for (const entry of queue) if (entry.at <= now && (due === undefined || entry.at < due.at)) due = entry;
      if (!due) return null;
      queue.splice(queue.indexOf(due), 1);
      return due.event;
    },
    nextAt() {
      let earliest = Infinity;
      for (const entry of queue) if (entry.at < earliest) earliest = entry.at;
      return earliest;
    },
    dropOf(runId) {
      queue = queue.filter((entry) => entry.runId !== runId);
    },
    lose() {
      queue = [];
    },
    shift(byMs) {
      queue = queue.map((entry) => ({ ...entry, at: entry.at + byMs }));
    },
  };
}
