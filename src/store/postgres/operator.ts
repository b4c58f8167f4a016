import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import { StoreError } from '../errors.ts';
import { answerAlone, nothingRuns, SeveralTrackers, type LoneRequest } from '../records/answer-alone.ts';
import { addRequest, findAnswer, withdrawRequest } from '../records/operator-requests.ts';
import type { Postgres } from './connection.ts';
import { readLeader, tryToLead, type InstanceFacts } from './leadership.ts';

/** How long a leader may take to answer; it looks for requests twice a second. */
const ANSWER_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;
/** A leader that fell silent is waited for so long before the command decides itself. */
const SILENCE_MS = 10_000;

/**
 * Asks the leader through the database. Where none leads, the command leads for as long as it takes to store the answer,
 * under an epoch of its own.
 */
export async function askThroughPostgres(
  db: Postgres,
  me: InstanceFacts,
  request: Omit<LoneRequest, 'now'>,
): Promise<{ readonly answer: OperatorAnswer; readonly byDaemon: boolean }> {
  const deadline = performance.now() + SILENCE_MS;
  while (performance.now() < deadline) {
    const leader = await db.read(readLeader());
    if (leader !== null && !leader.left && leader.silentMs < 3_000)
      return { answer: await askLeader(db, request.request, request.by), byDaemon: true };
    const answer = await answerHere(db, me, request);
    if (answer !== null) return { answer, byDaemon: false };
    await delay(LOOK_EVERY_MS * 5);
  }
  const remedy = 'start the service, or end the one that has it, and ask again';
  throw new StoreError({ path: db.address, kind: 'locked', what: 'is held by a service that does not answer', remedy });
}

async function answerHere(db: Postgres, me: InstanceFacts, request: Omit<LoneRequest, 'now'>): Promise<OperatorAnswer | null> {
  if (request.request.kind === 'stop') return nothingRuns(request.request.identifier);
  const leadership = await tryToLead(db, me);
  if (leadership === null) return null;
  try {
    return await db.writeUnder(leadership.epoch, answerAlone({ ...request, now: Date.now() }));
  } catch (error) {
    if (!(error instanceof Error) || !(error.cause instanceof SeveralTrackers)) throw error;
    throw new StoreError({ path: db.address, kind: 'failed', what: error.cause.message, remedy: error.cause.remedy });
  } finally {
    await leadership.leave();
  }
}

async function askLeader(db: Postgres, request: OperatorRequest, by: string): Promise<OperatorAnswer> {
  const id = await db.write(addRequest(request, by));
  const deadline = performance.now() + ANSWER_WITHIN_MS;
  while (performance.now() < deadline) {
    const answer = await db.read(findAnswer(id));
    if (answer !== null) return answer;
    await delay(LOOK_EVERY_MS);
  }
  await db.write(withdrawRequest(id));
  const late: OperatorAnswer = {
    outcome: 'refused',
    message: `the running service did not answer within ${ANSWER_WITHIN_MS / 1000} s: see its log`,
  };
  return (await db.read(findAnswer(id))) ?? late;
}
