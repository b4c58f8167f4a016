import type { AskedRequest, OperatorAnswer, OperatorRequest } from '../domain/model/operator.ts';
import type { NoticeBus } from '../ports/events.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Store } from '../ports/store.ts';

/** How often requests that other commands left in the database are looked for. */
const LOOK_EVERY_MS = 500;
/** How long one who asks over HTTP waits for the answer. */
const ANSWER_WITHIN_MS = 10_000;

export interface OperatorDesk {
  /** Asks like any command does, and waits for the answer. */
  ask(request: OperatorRequest, by: string): Promise<OperatorAnswer>;
  stop(): void;
}

export interface OperatorDeskDeps {
  readonly store: Pick<Store, 'addRequest' | 'takeRequests' | 'findAnswer'>;
  readonly notices: Pick<NoticeBus, 'listen'>;
  readonly logger: Logger;
  readonly report: (asked: AskedRequest) => void;
}

/** Where the requests of people arrive, from the database and over HTTP alike. */
export function openOperatorDesk({ store, notices, logger, report }: OperatorDeskDeps): OperatorDesk {
  const waiting = new Map<string, (answer: OperatorAnswer) => void>();
  const look = async (): Promise<void> => {
    for (const asked of await store.takeRequests()) report(asked);
  };
  const unlisten = notices.listen((notice) => {
    if (notice.name !== 'operator:request:answered') return;
    waiting.get(notice.facts.id)?.(notice.facts.answer);
    waiting.delete(notice.facts.id);
  });
  const timer = setInterval(() => {
    look().catch((fault: unknown) =>
      logger.warn('operator requests could not be read', { error: fault instanceof Error ? fault.message : String(fault) }),
    );
  }, LOOK_EVERY_MS);
  return {
    async ask(request, by) {
      const id = await store.addRequest(request, by);
      const answered = new Promise<OperatorAnswer>((resolve) => {
        waiting.set(id, resolve);
        setTimeout(() => resolve(LATE), ANSWER_WITHIN_MS).unref();
      });
      const early = await store.findAnswer(id);
      if (early !== null) return early;
      await look();
      return answered.finally(() => waiting.delete(id));
    },
    stop() {
      clearInterval(timer);
      unlisten();
    },
  };
}

const LATE: OperatorAnswer = { outcome: 'refused', message: 'the service did not answer in time: see its log' };
