import type { RunAdapters } from '../../../ports/runner.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import { createHeldRuns, type HeldRunsDeps } from './held-runs.ts';

export interface WorkerDeps extends Omit<HeldRunsDeps, 'killed' | 'onGivenUp'> {
  readonly loadNow: () => number;
}

export interface RunningWorker {
  /** Takes nothing new and lets what runs end. */
  drain(): void;
  /** Ends what runs at once, telling nobody. */
  kill(): void;
  /** Rejects where it had to leave: the database does not take what it says. */
  readonly done: Promise<void>;
}

/** Takes runs from the queue and works on them here. */
export async function startWorker({ loadNow, ...deps }: WorkerDeps): Promise<RunningWorker> {
  const { connection, logger } = deps;
  const killed = new AbortController();
  const over = new AbortController();
  let draining = false;
  let mute: Error | null = null;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const held = createHeldRuns({
    ...deps,
    adaptersFor: (job, asked) => startingWhenSure(deps.adaptersFor(job, asked), () => heart),
    killed: killed.signal,
    onGivenUp: (runId, why) => heart.tellGivenUp(runId, why),
  });
  const working = new Set<Promise<void>>();
  const heart: Heartbeat = createHeartbeat({
    connection,
    logger,
    held,
    onMissed: (runId) => void (draining || work(runId)),
    onMute(error) {
      mute ??= error instanceof Error ? error : new Error(String(error));
      killed.abort(new Error('the worker cannot say anything'));
      drain();
    },
    stateNow: () => ({ load: loadNow(), draining }),
  });

  async function work(runId: string): Promise<void> {
    const going = held
      .work(runId)
      .catch((error: unknown) => logger.error('a run could not be worked on', { run_id: runId, error: String(error) }));
    working.add(going);
    await going.finally(() => working.delete(going));
  }

  await heart.beat();
  const taking = await connection.takeJobs(work);
  const beating = heart.beatUntil(over.signal);
  const done = finished.then(async () => {
    over.abort();
    await beating;
    await connection.leave().catch(() => {});
    if (mute !== null) throw mute;
  });

  function drain(): void {
    draining = true;
    void heart.beat().catch(() => {});
    void taking
      .drain()
      .then(() => Promise.all(working))
      .then(finish);
  }

  return {
    done,
    drain,
    kill() {
      killed.abort(new Error('the worker was told to stop at once'));
      finish();
    },
  };
}

/** A session begins only while the run is surely this worker's: one that slept since it took the run asks first. */
function startingWhenSure(adapters: RunAdapters, heart: () => Heartbeat): RunAdapters {
  const { agent } = adapters;
  return {
    ...adapters,
    agent: {
      kind: agent.kind,
      findProblem: () => agent.findProblem(),
      async startSession(request, signal) {
        await heart().sure(signal);
        return agent.startSession(request, signal);
      },
    },
  };
}
