import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createChance, type Chance } from '../support/random.ts';
import { isJson, SPOIL } from './spoiled-answers.ts';

/** What a network does to answers; each has its turn. */
const MISCHIEF = ['delay', 'cut', 'duplicate', 'lose', 'reorder', 'corrupt', 'garble', 'throttle'] as const;
export type Mischief = (typeof MISCHIEF)[number];

export interface ChaosProxy {
  readonly url: string;
  /** How often each was done. */
  readonly done: Readonly<Record<Mischief, number>>;
  /** Writes, as the remote itself answered them, whoever heard of it. */
  readonly written: readonly { readonly path: string; readonly status: number }[];
  /** From now on this share of the answers is spoiled. */
  spoil(rate: number): void;
  /** From now on everything goes through untouched. */
  calm(): void;
  close(): Promise<void>;
}

interface ChaosOptions {
  readonly seed: number;
  /** What is never done. */
  readonly never?: readonly Mischief[];
}

/** A proxy between a daemon and its remote that spoils some answers; the same seed spoils the same way. */
export async function startChaos(target: string, options: ChaosOptions): Promise<ChaosProxy> {
  const chance = createChance(options.seed);
  const done = Object.fromEntries(MISCHIEF.map((name) => [name, 0])) as Record<Mischief, number>;
  const written: { path: string; status: number }[] = [];
  const turns = createTurns(chance);
  let rate = 0;
  let held: (() => void) | null = null;

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const isSpoiled = chance.happens(rate);
    const body = await bytesOf(incoming);
    const answer = relinked(await forward(target, incoming, body));
    const read = isRead(incoming, body);
    if (!read) written.push({ path: pathOf(incoming), status: answer.status });
    const mischief = isSpoiled ? turns.next(possible(read, answer).filter((name) => !options.never?.includes(name))) : null;
    if (mischief) done[mischief] += 1;
    // A request that is repeated on its way: only reads, a proxy does not repeat writes.
    if (mischief === 'duplicate') await forward(target, incoming, body).catch(() => null);
    if (mischief === 'delay') await delay(50 + chance.below(400));
    if (mischief === 'reorder') await untilNext();
    release();
    // What was written is there, and nobody hears of it: whoever asked asks again.
    if (mischief === 'lose') return void outgoing.destroy();
    if (mischief === 'cut') return cut(outgoing, answer, chance);
    if (mischief === 'throttle') return throttle(outgoing, answer);
    const bytes = mischief === 'corrupt' || mischief === 'garble' ? SPOIL[mischief](answer.body, chance) : answer.body;
    outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
    outgoing.end(bytes);
  }

  /** The remote calls itself by its own address in the links to its next pages; behind a proxy it is known by that of the proxy. */
  function relinked(answer: Answer): Answer {
    const { link } = answer.headers;
    if (typeof link !== 'string') return answer;
    const own = link.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, address());
    return { ...answer, headers: { ...answer.headers, link: own } };
  }

  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Holds an answer back until another one has passed. */
  function untilNext(): Promise<unknown> {
    return Promise.race([new Promise<void>((resolve) => (held = resolve)), delay(300)]);
  }

  function release(): void {
    held?.();
    held = null;
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: address(),
    done,
    written,
    spoil: (share) => void (rate = share),
    calm: () => void (rate = 0),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Turns {
  /** The one of these whose turn it has been for longest, or null. */
  next(possible: readonly Mischief[]): Mischief | null;
}

/** One after the other, in an order of chance, so that each is done however few answers there are. */
function createTurns(chance: Chance): Turns {
  let waiting: readonly Mischief[] = [];
  return {
    next(possible) {
      if (!waiting.some((name) => possible.includes(name)))
        waiting = [
          ...waiting,
          ...MISCHIEF.map((name) => ({ name, at: chance.below(1_000) }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ name }) => name),
        ];
      const found = waiting.find((name) => possible.includes(name)) ?? null;
      if (found !== null) waiting = waiting.toSpliced(waiting.indexOf(found), 1);
      return found;
    },
  };
}

/** What can be done to an answer at all. */
function possible(read: boolean, { body }: Answer): readonly Mischief[] {
  return MISCHIEF.filter((name) => {
    if (name === 'duplicate') return read;
    if (name === 'lose') return !read;
    if (name === 'garble') return isJson(body);
    return (name !== 'corrupt' && name !== 'throttle') || body.length > 0;
  });
}

/** By the words of the vendors: some reads are sent by POST, as queries of GraphQL, searches and fetches of git are. */
function isRead(incoming: IncomingMessage, body: Buffer): boolean {
  const { method } = incoming;
  if (method === 'GET' || method === 'HEAD') return true;
  if (method !== 'POST') return false;
  const path = pathOf(incoming);
  if (/\/(?:search(?:\/jql)?|git-upload-pack)$/.test(path)) return true;
  return path.endsWith('/graphql') && !/"query":\s*"\s*mutation/.test(body.toString('utf8'));
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

function forward(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${target}${url ?? '/'}`,
      { method, headers: { ...headers, host: new URL(target).host } },
      (response) => {
        bytesOf(response).then((received) => {
          const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = response.headers;
          resolve({ status: response.statusCode ?? 502, headers: kept as Answer['headers'], body: received });
        }, reject);
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The connection breaks in the middle of the answer. */
function cut(outgoing: ServerResponse, { status, headers, body }: Answer, chance: Chance): void {
  outgoing.writeHead(status, { ...headers, 'content-length': body.length + 1 });
  outgoing.write(body.subarray(0, chance.below(body.length + 1)));
  setTimeout(() => outgoing.destroy(), 5);
}

/** Comes a piece at a time. */
async function throttle(outgoing: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  outgoing.writeHead(status, { ...headers, 'content-length': body.length });
  const piece = Math.max(1, Math.ceil(body.length / 8));
  for (let at = 0; at < body.length; at += piece) {
    outgoing.write(body.subarray(at, at + piece));
    await delay(20);
  }
  outgoing.end();
}
