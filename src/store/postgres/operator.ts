import { setTimeout as delay } from 'node:timers/promises';
import { ASKING_WAITS_MS, LEADER_ANSWERS_MS, SESSIONS_OVER_MS } from '../../domain/model/lease-times.ts';
import type { OperatorAnswer } from '../../domain/model/operator.ts';
import { isSameProcess } from '../../lib/process-identity.ts';
import { StoreError } from '../errors.ts';
import { answerAlone, nothingRuns, SeveralTrackers, type CommandRequest } from '../records/answer-alone.ts';
import { waitForAnswer, type OperatorReply } from '../records/await-answer.ts';
import { addRequest, findAnswer, withdrawRequest } from '../records/operator-requests.ts';
import type { Postgres } from './connection.ts';
import { readLeader, type InstanceFacts, type Leader } from './instances.ts';
import { tryToLead } from './leadership.ts';

const LOOK_EVERY_MS = 100;

/**
 * Asks the leader through the database. Where none leads, the command leads for as long as it takes to store the answer,
 * under an epoch of its own.
 */
export async function askThroughPostgres(db: Postgres, me: InstanceFacts, request: CommandRequest): Promise<OperatorReply> {
  const deadline = performance.now() + ASKING_WAITS_MS;
  for (;;) {
    const leader = await db.read(readLeader());
    if (isAtWork(leader, me)) {
      const answered = await askLeader(db, me, request);
      if (answered !== null) return { answer: answered, byDaemon: true };
      continue;
    }
    const answer = isGone(leader, me) ? await answerHere(db, me, request) : null;
    if (answer !== null) return { answer, byDaemon: false };
    if (performance.now() > deadline) throw silent(db.address, leader);
    await delay(LOOK_EVERY_MS * 5);
  }
}

/** Whether there is a leader that can be asked. */
function isAtWork(leader: Leader | null, me: InstanceFacts): boolean {
  return leader !== null && !isGone(leader, me) && leader.silentMs < LEADER_ANSWERS_MS;
}

/**
 * Whether nothing of the last leader can go on: it took leave, or its process on this machine has ended, or it has been silent
 * for so long that it ended its sessions. A command never hides from the next leader that one may come back.
 */
function isGone(leader: Leader | null, me: InstanceFacts): boolean {
  if (leader === null || leader.left || leader.silentMs > SESSIONS_OVER_MS) return true;
  return leader.machine === me.machine && !isSameProcess({ pid: leader.pid, startTime: leader.processStart });
}

function silent(address: string, leader: Leader | null): StoreError {
  const what = `is led by a service that does not answer${leader === null ? '' : ` (pid ${leader.pid} on ${leader.host})`}`;
  const remedy = `start the service, or ask again in ${SESSIONS_OVER_MS / 1000} s`;
  return new StoreError({ path: address, kind: 'locked', what, remedy });
}

async function answerHere(db: Postgres, me: InstanceFacts, request: CommandRequest): Promise<OperatorAnswer | null> {
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

/** Null where nobody answered and nobody is at work any more. */
async function askLeader(
  db: Postgres,
  me: InstanceFacts,
  { request, by, configured }: CommandRequest,
): Promise<OperatorAnswer | null> {
  const id = await db.write(addRequest(request, by, configured));
  return waitForAnswer({
    find: () => db.read(findAnswer(id)),
    withdraw: () => db.write(withdrawRequest(id)),
    isThere: async () => isAtWork(await db.read(readLeader()), me),
    lookEveryMs: LOOK_EVERY_MS,
  });
}
