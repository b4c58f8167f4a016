import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import type { Store } from '../../ports/store.ts';

/** How long the leader may take to answer; it looks for requests twice a second. */
const ANSWER_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 200;

export interface AskedOfLeader {
  readonly request: OperatorRequest;
  readonly by: string;
  /** As the workflow file names it. */
  readonly tracker: string;
}

/**
 * Leaves the request in the database, where the leader finds it, and waits for its answer. What nobody answered is taken
 * back: a request that was refused never comes true later.
 */
export async function askLeader(
  store: Pick<Store, 'addRequest' | 'findAnswer' | 'withdrawRequest'>,
  { request, by, tracker }: AskedOfLeader,
  withinMs = ANSWER_WITHIN_MS,
): Promise<OperatorAnswer> {
  const id = await store.addRequest(request, by, tracker);
  for (const deadline = performance.now() + withinMs; performance.now() < deadline;) {
    const answer = await store.findAnswer(id);
    if (answer !== null) return answer;
    await delay(LOOK_EVERY_MS);
  }
  return (await store.withdrawRequest(id)) ?? late(withinMs);
}

function late(withinMs: number): OperatorAnswer {
  const message = `the leading service did not answer within ${withinMs / 1_000} s, and the request was taken back: it works on another tracker than the workflow file names, or see its log`;
  return { outcome: 'refused', message };
}
