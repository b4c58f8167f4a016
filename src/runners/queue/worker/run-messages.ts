import { setTimeout as delay } from 'node:timers/promises';
import type { RunMessage, WorkerConnection } from '../../../ports/run-queue.ts';
import { createRefusals } from '../refusals.ts';

const SAY_EVERY_MS = 200;

export interface RunMessages {
  add(message: RunMessage): void;
  /** Everything said was stored, or may not be. */
  finish(): Promise<void>;
}

export interface MessageFaults {
  /** The run is another's now, or nobody's. */
  readonly onLost: () => void;
  /** The database answers and does not take what is said; it is tried again. */
  readonly onRefused: (error: unknown) => void;
  /** It did not take it for too long. */
  readonly onGivenUp: (error: unknown) => void;
}

/** What a run says goes out in batches, one after the other, and again until the database has it. */
export function createRunMessages(
  connection: WorkerConnection,
  runId: string,
  lost: AbortSignal,
  faults: MessageFaults,
): RunMessages {
  let waiting: RunMessage[] = [];
  let number = 0;
  let sending: Promise<void> | null = null;
  /** Aborted when no more is said: then nothing waits for company. */
  const hurry = new AbortController();
  const pause = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal: AbortSignal.any([lost, hurry.signal]) }).catch(() => {});

  async function send(): Promise<void> {
    while (waiting.length > 0 && !lost.aborted) {
      const batch = waiting;
      waiting = [];
      number += 1;
      await sendBatch(batch);
      if (!hurry.signal.aborted) await pause(SAY_EVERY_MS);
    }
    sending = null;
  }

  async function sendBatch(batch: readonly RunMessage[]): Promise<void> {
    const refusals = createRefusals(faults.onRefused);
    while (!lost.aborted) {
      try {
        if (!(await connection.say(runId, number, batch))) faults.onLost();
        return;
      } catch (error) {
        if (refusals.isFinal(error)) return faults.onGivenUp(error);
        await delay(SAY_EVERY_MS * 5, undefined, { signal: lost }).catch(() => {});
      }
    }
  }

  return {
    add(message) {
      if (lost.aborted) return;
      waiting.push(message);
      sending ??= send();
    },
    async finish() {
      hurry.abort();
      while (sending !== null) await sending;
    },
  };
}
