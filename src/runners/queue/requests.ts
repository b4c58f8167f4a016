import { setTimeout as delay } from 'node:timers/promises';
import type { AskedOfTheLeader, RunAnswer, RunQueue } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import { answerRun } from './answer.ts';
import type { GivenRun, GivenRuns } from './given-runs.ts';

export interface RequestAnswersDeps {
  readonly queue: RunQueue;
  readonly logger: Logger;
  readonly find: GivenRuns['find'];
  readonly killed: AbortSignal;
}

/** What workers ask for their runs. */
export interface RequestAnswers {
  /** The ids of those that are being answered. */
  answering(): readonly string[];
  serve(requests: readonly AskedOfTheLeader[]): void;
}

const AGAIN_MS = 500;

/** Each request is carried out once, however often it is seen; its answer is stored until the database has it. */
export function createRequestAnswers({ queue, logger, find, killed }: RequestAnswersDeps): RequestAnswers {
  const answering = new Set<string>();

  async function serveOne({ id, request }: AskedOfTheLeader, run: GivenRun): Promise<void> {
    const signal = AbortSignal.any([run.over.signal, killed]);
    await store(id, await answerRun(run, request, signal), signal);
  }

  async function store(id: string, answer: RunAnswer, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        return await queue.answer(id, answer);
      } catch (error) {
        logger.warn('a worker was not answered, trying again', { request: id, error: String(error) });
        await delay(AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  return {
    answering: () => [...answering],
    serve(requests) {
      for (const request of requests) {
        const run = find(request.runId);
        // A look that began before the answer was stored shows it once more.
        if (run === undefined || run.served.has(request.id)) continue;
        run.served.add(request.id);
        answering.add(request.id);
        void serveOne(request, run).finally(() => answering.delete(request.id));
      }
    },
  };
}
