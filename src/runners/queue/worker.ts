import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerSeat } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import { createHeldRuns, GIVEN_AWAY, type HeldRuns, type HeldRunsDeps } from './held-runs.ts';

export interface WorkerDeps extends Omit<HeldRunsDeps, 'killed'> {
  readonly loadNow: () => number;
}

export interface RunningWorker {
  /** Takes nothing new and lets what runs end. */
  drain(): void;
  /** Ends what runs at once, telling nobody. */
  kill(): void;
  readonly done: Promise<void>;
}

const BEAT_MS = 2_000;
/** Without an answer of the database for 30 s the leader gives our runs to others: by then they have been ended. */
export const CUT_OFF_MS = 20_000;

/** Takes runs from the queue and works on them here. */
export async function startWorker({ loadNow, ...deps }: WorkerDeps): Promise<RunningWorker> {
  const { seat, logger } = deps;
  const killed = new AbortController();
  const over = new AbortController();
  let draining = false;
  const held = createHeldRuns({ ...deps, killed: killed.signal });
  const heart = createHeart({ seat, logger, held, stateNow: () => ({ load: loadNow(), draining }) });

  await heart.beat();
  const beating = heart.beatUntil(over.signal);
  const taking = await seat.takeJobs((runId) =>
    held
      .work(runId)
      .catch((error: unknown) => logger.error('a run could not be worked on', { run_id: runId, error: String(error) })),
  );
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => (finish = resolve)).then(async () => {
    over.abort();
    await beating;
    await seat.leave().catch(() => {});
    await seat.close();
  });
  return {
    done,
    drain() {
      draining = true;
      void heart.beat().catch(() => {});
      void taking.drain().then(finish);
    },
    kill() {
      killed.abort(new Error('the worker was told to stop at once'));
      finish();
    },
  };
}

interface Heart {
  beat(): Promise<void>;
  /** Beats again and again; what runs is given up when the database was not reached for too long. */
  beatUntil(over: AbortSignal): Promise<void>;
}

interface HeartParts {
  readonly seat: WorkerSeat;
  readonly logger: Logger;
  readonly held: HeldRuns;
  readonly stateNow: () => { readonly load: number; readonly draining: boolean };
}

/** Tells the leader that this worker lives, and does what it says about the runs here. */
function createHeart({ seat, logger, held, stateNow }: HeartParts): Heart {
  let heardAt = performance.now();
  let refused: string | null = null;

  async function beat(): Promise<void> {
    const begun = performance.now();
    // What is taken meanwhile may have been given after the database looked.
    const asked = [...held.ids()];
    const news = await seat.beat(stateNow());
    heardAt = begun;
    if (news.refused !== refused && news.refused !== null) logger.error('this worker gets no runs', { reason: news.refused });
    refused = news.refused;
    for (const runId of asked) {
      const stop = news.runs.get(runId);
      if (stop === undefined) held.lose(runId, GIVEN_AWAY);
      else if (stop !== null) held.stop(runId, stop);
    }
  }

  function giveUpWhenCutOff(): void {
    if (performance.now() - heardAt <= CUT_OFF_MS) return;
    for (const runId of held.ids()) held.lose(runId, 'the database was not reached for too long');
  }

  async function beatUntil(over: AbortSignal): Promise<void> {
    // Apart from the beat, which may hang as long as the way to the database does.
    const watch = setInterval(giveUpWhenCutOff, BEAT_MS / 2);
    while (!over.aborted) {
      await beat().catch((error: unknown) => logger.warn('the database does not answer', { error: String(error) }));
      await delay(BEAT_MS, undefined, { signal: over }).catch(() => {});
    }
    clearInterval(watch);
  }

  return { beat, beatUntil };
}
