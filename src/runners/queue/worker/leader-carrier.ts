import type { Carrier, Packed, PushAnswer } from '../../../ports/carrier.ts';
import type { OpenRequest } from '../../../ports/scm.ts';
import type { PushValue } from '../../../ports/run-queue.ts';
import { createAskForValue, type Ask } from './asking.ts';

/** The repository of a run, reached by the leader. */
export function createLeaderCarrier(askLeader: Ask): Carrier {
  const ask = createAskForValue(askLeader);
  return {
    pack: async (have, signal) => (await ask({ ask: 'pack', have }, signal)) as Packed,
    readPack: async (at, signal) => (await ask({ ask: 'pack-part', at }, signal)) as string,
    addWork: async (at, part, signal) => void (await ask({ ask: 'work-part', at, part }, signal)),
    push: async (sha, signal) => pushAnswerOf((await ask({ ask: 'push', sha }, signal)) as PushValue),
    propose: async (signal) => (await ask({ ask: 'propose' }, signal)) as OpenRequest,
  };
}

function pushAnswerOf(value: PushValue): PushAnswer {
  if (value.kind !== undefined) return value;
  return value.refused === null ? { kind: 'pushed' } : { kind: 'refused', said: value.refused };
}
