import type { Handler, RecordedRequest, Reply, TestServer } from '../../support/http-server.ts';
import { hang, startServer, text } from '../../support/http-server.ts';

export type Matcher = (request: RecordedRequest) => boolean;

/** What stands before a fake forge: it adds routes of its own, and lets single requests go wrong. */
export interface Front {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** The next matching request is answered so and does not pass. Resolves once it came. */
  answerNext(matcher: Matcher, reply: Reply): Promise<void>;
  /** Every matching request is answered so until told otherwise. */
  answerAll(matcher: Matcher, reply: Reply): () => void;
  /** The next matching request passes and is carried out, but its answer never arrives. Resolves once that has happened. */
  loseNext(matcher: Matcher): Promise<void>;
  /** The next matching request passes and is carried out, but is answered so. */
  spoilNext(matcher: Matcher, answer: Reply): Promise<void>;
  /** Lets something happen right before the next matching request passes. */
  beforeNext(matcher: Matcher, act: () => void): Promise<void>;
  close(): Promise<void>;
}

export async function startFront(remote: string, own: Handler): Promise<Front> {
  const plans: Plan[] = [];
  const take = (request: RecordedRequest): Plan | undefined => {
    const index = plans.findIndex(({ matcher }) => matcher(request));
    const plan = plans[index];
    if (plan && !plan.stays) plans.splice(index, 1);
    return plan;
  };
  const server: TestServer = await startServer(async (request) => {
    const plan = take(request);
    plan?.act?.();
    const reply = plan?.reply ?? (await own(request)) ?? (await passOn(remote, request));
    plan?.happened();
    return plan?.isLost ? hang() : (plan?.spoiled ?? reply);
  });
  const planned = (matcher: Matcher, plan: Partial<Plan>): Promise<void> =>
    new Promise((happened) => void plans.push({ ...plan, matcher, happened }));
  return {
    url: server.url,
    requests: server.requests,
    answerNext: (matcher, reply) => planned(matcher, { reply }),
    answerAll: (matcher, reply) => {
      const plan: Plan = { matcher, reply, stays: true, happened: () => undefined };
      plans.push(plan);
      return () => void plans.splice(plans.indexOf(plan), 1);
    },
    loseNext: (matcher) => planned(matcher, { isLost: true }),
    spoilNext: (matcher, spoiled) => planned(matcher, { spoiled }),
    beforeNext: (matcher, act) => planned(matcher, { act }),
    close: () => server.close(),
  };
}

interface Plan {
  readonly matcher: Matcher;
  readonly reply?: Reply;
  readonly act?: () => void;
  readonly isLost?: boolean;
  readonly spoiled?: Reply;
  readonly stays?: boolean;
  readonly happened: () => void;
}

/** Of one connection alone, or made anew by whoever sends the message on. */
const HOP_BY_HOP = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'accept-encoding', 'date'];

async function passOn(remote: string, { method, path, query, headers, body }: RecordedRequest): Promise<Reply> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || HOP_BY_HOP.includes(name) ? [] : [[name, String(value)]],
  );
  const answer = await fetch(`${remote}${path}${query.size > 0 ? `?${query.toString()}` : ''}`, {
    method,
    redirect: 'manual',
    headers: [...kept, ['accept-encoding', 'identity']],
    ...(body === '' ? {} : { body }),
  });
  const back = [...answer.headers].filter(([name]) => !HOP_BY_HOP.includes(name));
  return text(await answer.text(), answer.status, Object.fromEntries(back));
}
