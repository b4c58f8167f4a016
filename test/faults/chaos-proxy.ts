import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createChance, type Chance } from '../support/random.ts';

/** What a network does to answers. */
export const MISCHIEF = ['delay', 'cut', 'duplicate', 'reorder', 'corrupt', 'throttle'] as const;
export type Mischief = (typeof MISCHIEF)[number];

export interface ChaosProxy {
  readonly url: string;
  /** How often each was done. */
  readonly done: Readonly<Record<Mischief, number>>;
  /** From now on this share of the answers is spoiled. */
  spoil(rate: number): void;
  /** From now on everything goes through untouched. */
  calm(): void;
  close(): Promise<void>;
}

/** A proxy between a daemon and its remote that spoils some answers; the same seed spoils the same way. */
export async function startChaos(target: string, options: { seed: number }): Promise<ChaosProxy> {
  const chance = createChance(options.seed);
  const done: Record<Mischief, number> = { delay: 0, cut: 0, duplicate: 0, reorder: 0, corrupt: 0, throttle: 0 };
  let rate = 0;
  let held: (() => void) | null = null;

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const mischief = chance.happens(rate) ? chance.pick(MISCHIEF) : null;
    if (mischief) done[mischief] += 1;
    const body = await bytesOf(incoming);
    const reads = incoming.method === 'GET';
    // A request that is repeated on its way: only reads, a proxy does not repeat writes.
    if (mischief === 'duplicate' && reads) await forward(target, incoming, body).catch(() => null);
    const answer = relinked(await forward(target, incoming, body));
    if (mischief === 'delay') await delay(50 + chance.below(400));
    if (mischief === 'reorder') await untilNext();
    release();
    if (mischief === 'cut') return cut(outgoing, answer, chance);
    if (mischief === 'throttle') return throttle(outgoing, answer);
    const bytes = mischief === 'corrupt' ? corrupted(answer.body, chance) : answer.body;
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
    spoil: (share) => void (rate = share),
    calm: () => void (rate = 0),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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

/** Some bytes are not what they were: the answer is no JSON any more. */
function corrupted(body: Buffer, chance: Chance): Buffer {
  const bytes = Buffer.from(body);
  if (bytes.length === 0) return bytes;
  bytes[0] = 0xff;
  for (let count = 0; count < 3; count += 1) bytes[chance.below(bytes.length)] = chance.below(256);
  return bytes;
}
