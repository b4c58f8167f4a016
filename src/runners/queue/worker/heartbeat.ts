import { setTimeout as delay } from 'node:timers/promises';
import { failedExit } from '../../../domain/model/event.ts';
import type { Fault } from '../../../domain/model/fault.ts';
import { WORKER_BEAT_MS, WORKER_CUT_OFF_MS, WORKER_SURE_MS } from '../../../domain/model/lease-times.ts';
import type { WorkerConnection } from '../../../ports/run-queue.ts';
import type { Logger } from '../../../ports/runtime.ts';
import { GIVEN_AWAY, type HeldRuns } from './held-runs.ts';
import { isRefusal } from '../refusals.ts';

/** Tells the leader that this worker lives, and does what it says about the runs here. */
export interface Heartbeat {
  beat(): Promise<void>;
  /** Beats again and again; what runs is given up when the database was not reached for too long. */
  beatUntil(over: AbortSignal): Promise<void>;
  /** The leader is told at the next beat that a run was given up here. */
  tellGivenUp(runId: string, why: string): void;
  /** Resolves while the database was heard of a moment ago, or with the next answer. */
  sure(signal: AbortSignal): Promise<void>;
}

export interface HeartParts {
  readonly connection: Pick<WorkerConnection, 'beat' | 'say'>;
  readonly logger: Logger;
  readonly held: Pick<HeldRuns, 'ids' | 'notBegun' | 'stop' | 'lose'>;
  /** Hears of a run that is this worker's and was not handed to it. */
  readonly onMissed: (runId: string) => void;
  /** Hears that the database takes not even the last word of a run. */
  readonly onMute: (error: unknown) => void;
  readonly stateNow: () => { readonly load: number; readonly draining: boolean };
}

/** After whatever the run has said. */
const LAST_WORD = 1_000_000_000;

export function createHeartbeat({ connection, logger, held, onMissed, onMute, stateNow }: HeartParts): Heartbeat {
  let heardAt = performance.now();
  let refused: string | null = null;
  /** Given up here, and why: the leader waits for them. */
  const dropped = new Map<string, string>();
  /** At the last beat. The queue hands a run over well before the next, unless it was lost on the way. */
  let notBegun: readonly string[] = [];
  const silentMs = (): number => performance.now() - heardAt;
  const { sure, answered } = createAssurance(silentMs);

  async function beat(): Promise<void> {
    const begun = performance.now();
    // What is taken meanwhile may have been given after the database looked.
    const asked = [...held.ids()];
    const news = await connection.beat(stateNow());
    heardAt = begun;
    if (news.refused !== refused && news.refused !== null) logger.error('this worker gets no runs', { reason: news.refused });
    refused = news.refused;
    answered();
    for (const runId of asked) {
      const stop = news.runs.get(runId);
      if (stop === undefined) held.lose(runId, GIVEN_AWAY);
      else if (stop !== null) held.stop(runId, stop);
    }
    for (const [runId, why] of dropped) {
      if (news.runs.has(runId)) await sayLast(runId, why);
      dropped.delete(runId);
    }
    const waiting = held.notBegun(news.runs.keys());
    for (const runId of waiting) if (notBegun.includes(runId)) onMissed(runId);
    notBegun = waiting;
  }

  async function sayLast(runId: string, why: string): Promise<void> {
    try {
      await connection.say(runId, LAST_WORD, [lastWordOf(runId, why)]);
    } catch (error) {
      if (isRefusal(error)) onMute(error);
      throw error;
    }
  }

  function giveUpWhenCutOff(): void {
    if (silentMs() <= WORKER_CUT_OFF_MS) return;
    for (const runId of held.ids()) {
      held.lose(runId, CUT_OFF);
      dropped.set(runId, CUT_OFF);
    }
  }

  async function beatUntil(over: AbortSignal): Promise<void> {
    let isTold = false;
    // Apart from the beat, which may hang as long as the way to the database does.
    const watch = setInterval(giveUpWhenCutOff, WORKER_BEAT_MS / 2);
    while (!over.aborted) {
      await beat().then(
        () => (isTold = false),
        (error: unknown) => {
          if (!isTold) logger.warn('the database does not answer', { error: String(error) });
          isTold = true;
        },
      );
      await delay(WORKER_BEAT_MS, undefined, { signal: over }).catch(() => {});
    }
    clearInterval(watch);
  }

  return { beat, beatUntil, sure, tellGivenUp: (runId, why) => void dropped.set(runId, why) };
}

/** Lets those who must be sure of the database wait for its next answer. */
function createAssurance(silentMs: () => number): Pick<Heartbeat, 'sure'> & { answered(): void } {
  const waiting: (() => void)[] = [];
  return {
    answered: () => waiting.splice(0).forEach((resolve) => resolve()),
    async sure(signal) {
      while (silentMs() > WORKER_SURE_MS) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    },
  };
}

const CUT_OFF = 'the database was not reached for too long';

function lastWordOf(runId: string, why: string) {
  const fault: Fault = {
    kind: 'worker_lost',
    message: `worker_lost: ${why}; the run is tried again`,
    consequence: 'back-off',
  };
  return { report: { type: 'run-exited', issueId: '', runId, exit: failedExit(fault) } } as const;
}
