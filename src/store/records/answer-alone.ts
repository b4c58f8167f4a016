import { closeDraft, openDraft } from '../../domain/draft.ts';
import { onOperatorAsked } from '../../domain/events/on-operator.ts';
import { NO_SETTINGS } from '../../domain/model/no-settings.ts';
import type { OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import { rebuilt } from '../../domain/recover.ts';
import { addRequest, findAnswer, readRequest } from './operator-requests.ts';
import { adoptNameless, storedIdentity } from './trackers.ts';
import { all, type Work } from './work.ts';
import { applyWrites, loadDurable } from './writes.ts';

/** A workflow file that does not say which tracker it means, and a database that holds several. */
export class SeveralTrackers extends Error {
  readonly remedy = 'correct the errors of the workflow file, so that it says which one is meant';

  constructor() {
    super('holds the issues of several trackers');
  }
}

/** What a command asks for. */
export interface CommandRequest {
  /** The tracker as the workflow file configures it; null when the file does not say. */
  readonly configured: string | null;
  readonly request: OperatorRequest;
  readonly by: string;
}

type LoneRequest = CommandRequest & { readonly now: number };

/** The same decision as the daemon's, on the records alone. Nothing runs, so there is nothing to stop. */
export function* answerAlone({ configured, request, by, now }: LoneRequest): Work<OperatorAnswer> {
  const tracker = yield* trackerOf(configured);
  const durable = yield* loadDurable(tracker);
  const id = yield* addRequest(request, by, configured);
  const asked = yield* readRequest(id);
  if (asked === null) throw new Error(`request ${id} cannot be read back`);
  const draft = openDraft(rebuilt(NO_SETTINGS, durable, '', now), now);
  onOperatorAsked(draft, { type: 'operator-asked', asked });
  yield* applyWrites(closeDraft(draft).writes, { tracker, hold: { owner: '', leaseUntil: now } });
  return (yield* findAnswer(id)) ?? { outcome: 'refused', message: 'nothing was decided' };
}

/** What is told where no service runs: what one that was killed left behind may still run. */
export function nothingRuns(identifier: string): OperatorAnswer {
  const left = 'what a service that was killed left running is ended when it starts again';
  return { outcome: 'refused', message: `no service is running that could stop ${identifier}; ${left}` };
}

/** Whose issues are meant. A file that does not say can only mean the one tracker there is. */
function* trackerOf(configured: string | null): Work<string> {
  if (configured !== null) return yield* adoptNameless(yield* storedIdentity(configured));
  const [only, ...more] = yield* all('SELECT identity FROM trackers');
  if (more.length > 0) throw new SeveralTrackers();
  return String(only?.identity ?? '');
}
