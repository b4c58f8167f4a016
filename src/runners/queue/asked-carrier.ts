import type { Carrier, Packed, PushAnswer } from '../../ports/carrier.ts';
import type { OpenRequest } from '../../ports/scm.ts';
import type { PushValue, RunRequest } from '../../ports/run-queue.ts';
import type { Ask } from './asking.ts';
import { errorOf } from './told-errors.ts';

/** The repository of a run, reached by the leader. */
export function createAskedCarrier(askLeader: Ask): Carrier {
  const ask = async (request: RunRequest, signal: AbortSignal): Promise<unknown> => {
    const answer = await askLeader(request, signal);
    if (!answer.ok) throw errorOf(answer);
    return answer.value;
  };
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
