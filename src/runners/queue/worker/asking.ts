import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunAnswer, RunRequest, WorkerConnection } from '../../../ports/run-queue.ts';
import { createRefusals } from '../refusals.ts';
import { errorOf } from '../wire-errors.ts';

/** Most answers come soon; what takes long is asked for less often. */
const FIRST_WAIT_MS = 40;
const LONGEST_WAIT_MS = 300;
const AGAIN_MS = 1_000;
/** A server that took the place of another may not have got what was asked. */
const SEND_AGAIN_MS = 10_000;

/** Asks the leader for something that a run needs, and waits for the answer. Rejects when the run is no longer ours. */
export type Ask = (request: RunRequest, signal: AbortSignal) => Promise<RunAnswer>;

export function createAsk(connection: WorkerConnection, runId: string, lost: AbortSignal): Ask {
  /** Answers that the database may drop. */
  let heard: readonly string[] = [];
  return async (request, signal) => {
    const id = randomUUID();
    const either = AbortSignal.any([signal, lost]);
    for (;;) {
      const known = heard;
      // Under the same id it is asked once, however often it is sent.
      if ((await retryWhileAway(() => connection.ask(runId, id, request, known), either)) === null) {
        throw new Error('the run is no longer this worker’s');
      }
      heard = heard.filter((answered) => !known.includes(answered));
      const answer = await answerWithin(SEND_AGAIN_MS, connection, id, either);
      if (answer === null) continue;
      heard = [...heard, id];
      return answer;
    }
  };
}

/** The same for the value alone: what failed there fails here. */
export function createAskForValue(ask: Ask): (request: RunRequest, signal: AbortSignal) => Promise<unknown> {
  return async (request, signal) => {
    const answer = await ask(request, signal);
    if (!answer.ok) throw errorOf(answer);
    return answer.value;
  };
}

async function answerWithin(
  ms: number,
  connection: WorkerConnection,
  id: string,
  signal: AbortSignal,
): Promise<RunAnswer | null> {
  const until = performance.now() + ms;
  for (let wait = FIRST_WAIT_MS; performance.now() < until; wait = Math.min(wait * 1.5, LONGEST_WAIT_MS)) {
    await delay(wait, undefined, { signal });
    const answer = await retryWhileAway(() => connection.answerTo(id), signal);
    if (answer !== null) return answer;
  }
  return null;
}

/** Tries again while the database does not answer; what it refuses for too long is a fault. */
export async function retryWhileAway<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const refusals = createRefusals();
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (refusals.isFinal(error)) throw error;
      await delay(AGAIN_MS, undefined, { signal });
    }
  }
}
