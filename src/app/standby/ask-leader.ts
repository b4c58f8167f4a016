import type { OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import type { Store } from '../../ports/store.ts';
import { lookForAnswer } from '../../store/records/await-answer.ts';

/** How long the leader may take to answer; it looks for requests twice a second. */
const ANSWER_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 200;

export interface AskedOfLeader {
  readonly request: OperatorRequest;
  readonly by: string;
  /** As the workflow file names it. */
  readonly tracker: string;
}

export interface AskLeaderDeps {
  readonly store: Pick<Store, 'addRequest' | 'findAnswer' | 'withdrawRequest'>;
  /** Aborted when this one stands by no longer; the reason says why. */
  readonly over: AbortSignal;
  readonly withinMs?: number;
}

/**
 * Leaves the request in the database, where the leader finds it, and waits for its answer. What nobody answered is taken
 * back: a request that was refused never comes true later.
 */
export async function askLeader({ request, by, tracker }: AskedOfLeader, deps: AskLeaderDeps): Promise<OperatorAnswer> {
  const { store, over, withinMs = ANSWER_WITHIN_MS } = deps;
  const id = await store.addRequest(request, by, tracker);
  // A database that is away for a moment is asked again.
  const find = () => store.findAnswer(id).catch(() => null);
  const found = await lookForAnswer(find, { withinMs, lookEveryMs: LOOK_EVERY_MS, signal: over });
  if (found !== null) return found;
  const message = over.aborted ? String(over.reason) : late(withinMs);
  return store.withdrawRequest(id).then(
    (answer) => answer ?? { outcome: 'refused', message },
    () => ({ outcome: 'refused', message: UNDECIDED }),
  );
}

/** The leader is just storing its answer, or the database is away. */
const UNDECIDED = 'the leading service did not answer in time and may still do it: see "foray status" for what became of it';

function late(withinMs: number): string {
  return `the leading service did not answer within ${withinMs / 1_000} s, and the request was taken back: it works on another tracker than the workflow file names, or see its log`;
}
