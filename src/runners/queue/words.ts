import { setTimeout as delay } from 'node:timers/promises';
import type { RunWord, WorkerSeat } from '../../ports/run-queue.ts';

const SAY_EVERY_MS = 200;

export interface Words {
  add(word: RunWord): void;
  /** Everything said was stored, or may not be. */
  finish(): Promise<void>;
}

/** What a run says goes out in batches, one after the other, and again until the database has it. */
export function createWords(seat: WorkerSeat, runId: string, lost: AbortSignal, onLost: () => void): Words {
  let waiting: RunWord[] = [];
  let number = 0;
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    while (waiting.length > 0 && !lost.aborted) {
      const batch = waiting;
      waiting = [];
      number += 1;
      await sendBatch(batch);
      await delay(SAY_EVERY_MS, undefined, { signal: lost }).catch(() => {});
    }
    sending = null;
  }

  async function sendBatch(batch: readonly RunWord[]): Promise<void> {
    while (!lost.aborted) {
      try {
        if (!(await seat.say(runId, number, batch))) onLost();
        return;
      } catch {
        await delay(SAY_EVERY_MS * 5, undefined, { signal: lost }).catch(() => {});
      }
    }
  }

  return {
    add(word) {
      if (lost.aborted) return;
      waiting.push(word);
      sending ??= send();
    },
    async finish() {
      while (sending !== null) await sending;
    },
  };
}
