import type { RecordedRequest, Reply, TestServer } from './http-server.ts';
import { startServer, text } from './http-server.ts';

export type Matcher = (request: RecordedRequest) => boolean;
/** Changes the body of a genuine answer, or keeps it waiting. */
export type Spoil = (body: string) => string | Promise<string>;

/** What stands between a daemon and a fake remote: everything passes, until it is told otherwise. */
export interface TestProxy {
  /** Replaces the remote's own address. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** The next request that matches is answered so and does not pass. Resolves once that has happened. */
  answerNext(matcher: Matcher, reply: Reply): Promise<void>;
  /**
   * The answer to the next request that matches is changed on its way back, and its tag with it unless `keepsTag` says that
   * nobody noticed. Resolves once that has happened.
   */
  spoilNext(matcher: Matcher, spoil: Spoil, options?: { readonly keepsTag?: boolean }): Promise<void>;
  /** Every request is answered so from now on; null lets all pass again. */
  shut(reply: Reply | null): void;
  close(): Promise<void>;
}

/** A proxy in front of one origin. It knows nothing of what passes, so that every kind of remote fits behind it. */
export async function startProxy(remote: string): Promise<TestProxy> {
  const plans: Plan[] = [];
  let closed: Reply | null = null;
  const server: TestServer = await startServer(async (request) => {
    if (closed) return closed;
    const index = plans.findIndex(({ matcher }) => matcher(request));
    const [plan] = index === -1 ? [] : plans.splice(index, 1);
    const reply = plan?.reply ?? (await passed(remote, request, plan));
    plan?.happened();
    return reply;
  });
  const planned = (matcher: Matcher, change: Pick<Plan, 'reply' | 'spoil' | 'keepsTag'>): Promise<void> =>
    new Promise((happened) => void plans.push({ matcher, ...change, happened }));
  return {
    url: server.url,
    requests: server.requests,
    answerNext: (matcher, reply) => planned(matcher, { reply }),
    spoilNext: (matcher, spoil, { keepsTag = false } = {}) => planned(matcher, { spoil, keepsTag }),
    shut: (reply) => void (closed = reply),
    close: () => server.close(),
  };
}

interface Plan {
  readonly matcher: Matcher;
  readonly reply?: Reply;
  readonly spoil?: Spoil;
  readonly keepsTag?: boolean;
  readonly happened: () => void;
}

/** Of one connection alone, or made anew by whoever sends the message on. */
const HOP_BY_HOP = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'accept-encoding', 'date'];

async function passed(remote: string, request: RecordedRequest, { spoil, keepsTag }: Partial<Plan> = {}): Promise<Reply> {
  const { method, path, query, body } = request;
  // What is to be changed must come in full.
  const held = spoil ? [...HOP_BY_HOP, 'if-none-match'] : HOP_BY_HOP;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined || held.includes(name) ? [] : [[name, String(value)] as [string, string]],
  );
  const init: RequestInit = {
    method,
    redirect: 'manual',
    headers: [...headers, ['accept-encoding', 'identity']],
    ...(body === '' ? {} : { body }),
  };
  const answer = await fetch(`${remote}${path}${query.size > 0 ? `?${query.toString()}` : ''}`, init);
  const dropped = spoil && !keepsTag ? [...HOP_BY_HOP, 'etag'] : HOP_BY_HOP;
  const back = [...answer.headers].filter(([name]) => !dropped.includes(name));
  const content = await answer.text();
  return text(spoil ? await spoil(content) : content, answer.status, Object.fromEntries(back));
}
