import { lookRepeatedly } from '../../lib/repeated-look.ts';
import type { AskedRequest, OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import { errorText } from '../../lib/error-text.ts';

/** How often requests that other commands left in the database are looked for. */
const LOOK_EVERY_MS = 500;
/** How long one who asks over HTTP waits for the answer. */
const ANSWER_WITHIN_MS = 10_000;

export interface OperatorRequests {
  /** Gives what came before to `begin`, which is to carry it out before anything else. From then on requests are handed on. */
  start(begin: (asked: readonly AskedRequest[]) => void): Promise<void>;
  /** Asks like any command does, and waits for the answer. */
  ask(request: OperatorRequest, by: string): Promise<OperatorAnswer>;
  /** Resolves when nothing is asked of the database any more. */
  stop(): Promise<void>;
}

export interface OperatorRequestsDeps {
  readonly store: Pick<Store, 'addRequest' | 'takeRequests' | 'findAnswer'>;
  readonly notices: Pick<NoticeBus, 'listen'>;
  readonly logger: Logger;
  /** Hides the secrets that are known. */
  readonly mask: (text: string) => string;
  readonly report: (asked: AskedRequest) => void;
  /** The trackers that are worked on, the watched one first. */
  readonly trackers: () => readonly string[];
}

/** Where the requests of people arrive, from the database and over HTTP alike. */
export function openOperatorRequests({ store, notices, logger, mask, report, trackers }: OperatorRequestsDeps): OperatorRequests {
  const waiting = new Map<string, (answer: OperatorAnswer) => void>();
  let started = false;
  const take = async (): Promise<readonly AskedRequest[]> =>
    (await store.takeRequests(trackers())).map((asked) => withShownReason(asked, mask));
  const look = async (): Promise<void> => {
    if (!started) return;
    for (const asked of await take()) report(asked);
  };
  const tell = (fault: unknown): void => logger.warn('operator requests could not be read', { error: errorText(fault) });
  const unlisten = notices.listen((notice) => {
    if (notice.name !== 'operator:request:answered') return;
    waiting.get(notice.facts.id)?.(notice.facts.answer);
  });
  const looking = lookRepeatedly(look, LOOK_EVERY_MS, tell);
  return {
    async start(begin) {
      const waited = await take().catch((fault: unknown) => {
        tell(fault);
        return [];
      });
      begin(waited);
      started = true;
    },
    async ask(request, by) {
      if (!started && 'identifier' in request) return NOT_YET;
      const id = await store.addRequest(request, by, trackers()[0] ?? null);
      if (!started) return KEPT;
      const answered = new Promise<OperatorAnswer>((resolve) => waiting.set(id, resolve));
      const late = setTimeout(() => waiting.get(id)?.(LATE), ANSWER_WITHIN_MS).unref();
      try {
        const early = await store.findAnswer(id);
        if (early !== null) return early;
        await look();
        return await answered;
      } finally {
        clearTimeout(late);
        waiting.delete(id);
      }
    },
    stop() {
      unlisten();
      return looking.stop();
    },
  };
}

/** What people read of a pause. The name of an issue stays as it is: it is looked for. */
function withShownReason(asked: AskedRequest, mask: OperatorRequestsDeps['mask']): AskedRequest {
  const { request } = asked;
  return request.kind === 'pause' ? { ...asked, request: { ...request, reason: mask(request.reason) } } : asked;
}

/** Whether the issue is known, and where it stands, is not known before the start. */
const NOT_YET: OperatorAnswer = { outcome: 'refused', message: 'the service is still starting: ask again in a moment' };
const KEPT: OperatorAnswer = {
  outcome: 'taken',
  message: 'the service is still starting: this is carried out as soon as it has started',
};
const LATE: OperatorAnswer = {
  outcome: 'refused',
  message: 'the service did not answer in time: see its log, and "foray status" for what became of it',
};
