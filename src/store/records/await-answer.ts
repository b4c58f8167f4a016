import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorAnswer } from '../../domain/model/operator.ts';

/** How it went what a command asked for. */
export interface OperatorReply {
  readonly answer: OperatorAnswer;
  /** Whether the running service answered, or the database was changed without one. */
  readonly byDaemon: boolean;
}

/** How long a service may take to answer a command; it looks for requests twice a second. */
const ANSWER_WITHIN_MS = 15_000;

const LATE_ANSWER: OperatorAnswer = {
  outcome: 'refused',
  message: `the running service did not answer within ${ANSWER_WITHIN_MS / 1000} s: it works on another tracker than the workflow file names, or see its log`,
};

/** How often one that waits looks whether the service is still there. */
const LOOK_FOR_SERVICE_MS = 1_000;

type Answer = OperatorAnswer | null;

/** How one request of a command is looked after. */
interface Asked {
  find(): Answer | Promise<Answer>;
  withdraw(): Answer | Promise<Answer>;
  /** Whether the service that was asked still runs. */
  isThere(): boolean | Promise<boolean>;
  readonly lookEveryMs: number;
}

/** What a command is told: the answer of the service, or that none came. Null where the service ended without one. */
export async function waitForAnswer({ find, withdraw, isThere, lookEveryMs }: Asked): Promise<Answer> {
  const deadline = performance.now() + ANSWER_WITHIN_MS;
  let there = true;
  while (there && performance.now() < deadline) {
    const answer = await lookForAnswer(find, { withinMs: LOOK_FOR_SERVICE_MS, lookEveryMs });
    if (answer !== null) return answer;
    there = await isThere();
  }
  return (await withdraw()) ?? (there ? LATE_ANSWER : null);
}

interface Looking {
  readonly withinMs: number;
  readonly lookEveryMs: number;
  readonly signal?: AbortSignal;
}

/** Looks again and again; null where no answer came in time, or before the signal. */
export async function lookForAnswer(find: Asked['find'], { withinMs, lookEveryMs, signal }: Looking): Promise<Answer> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline && signal?.aborted !== true;) {
    const answer = await find();
    if (answer !== null) return answer;
    await delay(lookEveryMs, undefined, { signal }).catch(() => {});
  }
  return null;
}
