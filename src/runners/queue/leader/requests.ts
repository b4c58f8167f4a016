import { setTimeout as delay } from 'node:timers/promises';
import { faultOf } from '../../../domain/model/fault.ts';
import type { AskedOfTheLeader, RunAnswer, RunQueue } from '../../../ports/run-queue.ts';
import type { Logger } from '../../../ports/runtime.ts';
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
  /** Seen by a look that began then. */
  serve(requests: readonly AskedOfTheLeader[], lookedAt: number): void;
}

const AGAIN_MS = 500;

/** Each request is carried out once, however often it is seen; its answer is stored until the database has it. */
export function createRequestAnswers({ queue, logger, find, killed }: RequestAnswersDeps): RequestAnswers {
  const answering = new Set<string>();

  async function serveOne({ id, request }: AskedOfTheLeader, run: GivenRun): Promise<void> {
    const signal = AbortSignal.any([run.over.signal, killed]);
    const isKnown = run.served.has(id);
    run.served.set(id, null);
    await store(id, isKnown ? LOST : await answerRun(run, request, signal), signal);
    run.served.set(id, performance.now());
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
    serve(requests, lookedAt) {
      for (const request of requests) {
        const run = find(request.runId);
        if (run === undefined || run.exit !== null || isServed(run, request.id, lookedAt)) continue;
        answering.add(request.id);
        void serveOne(request, run).finally(() => answering.delete(request.id));
      }
    },
  };
}

/** A look that began before the answer was stored shows the request once more. */
function isServed({ served }: GivenRun, id: string, lookedAt: number): boolean {
  const storedAt = served.get(id);
  return storedAt !== undefined && (storedAt === null || storedAt >= lookedAt);
}

/** A server that took the place of another may lack what was stored last. What was done is not done again. */
const LOST: RunAnswer = { ok: false, fault: faultOf(new Error('the answer of the service was lost with its database')) };
