import { connect, type Socket } from 'node:net';

export interface LoadOptions {
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
  /** What the request of this number asks for. */
  readonly routeOf: (count: number) => string;
}

export interface LoadOutcome {
  readonly sent: number;
  readonly answered: number;
  readonly failed: number;
  /** Requests that the server closed the connection upon without a word, which were sent once more. */
  readonly resent: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Share of the time that the sender itself was busy: near 1, it is the sender that was measured. */
  readonly senderBusy: number;
}

/** How often new requests are released. */
const BEAT_MS = 5;

/**
 * Sends requests at a rate, over kept connections. It speaks HTTP by hand: Node's own client costs more than the server
 * that is to be measured, on a machine where both share two cores.
 */
export async function sendAtRate(url: string, options: LoadOptions): Promise<LoadOutcome> {
  const { hostname, port, host } = new URL(url);
  const idle: Connection[] = [];
  const took: number[] = [];
  let [sent, failed, resent] = [0, 0, 0];
  const connections = await Promise.all(
    Array.from({ length: options.connections }, () =>
      openConnection(
        { hostname, port: Number(port) },
        (connection, ok, ms) => {
          took.push(ms);
          if (!ok) failed += 1;
          idle.push(connection);
        },
        () => (resent += 1),
      ),
    ),
  );
  idle.push(...connections);
  const idleBefore = performance.eventLoopUtilization();
  const begin = performance.now();
  const end = begin + options.seconds * 1_000;
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - begin) / 1_000) * options.perSecond);
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (sent >= due) {
        idle.push(connection);
        break;
      }
      connection.send(`GET ${options.routeOf(sent)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      sent += 1;
    }
    // Where all connections wait for an answer there is nothing to send: going round would take the processor from the server.
    await new Promise((resolve) => setTimeout(resolve, idle.length > 0 ? BEAT_MS : 1));
  }
  const senderBusy = performance.eventLoopUtilization(idleBefore).utilization;
  while (took.length < sent && performance.now() < end + 10_000) await new Promise((resolve) => setTimeout(resolve, BEAT_MS));
  for (const connection of connections) connection.close();
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  const lost = failed + sent - took.length;
  return { sent, answered: took.length - failed, failed: lost, resent, medianMs: at(0.5), p99Ms: at(0.99), senderBusy };
}

interface Connection {
  send(request: string): void;
  close(): void;
}

type Answered = (connection: Connection, ok: boolean, ms: number) => void;

/** One request at a time, over a connection that is opened again when the server closed it between two requests. */
async function openConnection(to: Address, answered: Answered, onResent: () => void): Promise<Connection> {
  let sentAt = 0;
  let waiting: string | null = null;
  let isOver = false;
  let socket = open();
  const connection: Connection = {
    send(request) {
      sentAt = performance.now();
      waiting = request;
      if (!socket.destroyed) socket.write(request);
      else socket = open();
    },
    close() {
      isOver = true;
      socket.destroy();
    },
  };
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return connection;

  function open(): Socket {
    const fresh = connect(to.port, to.hostname);
    fresh.setNoDelay(true);
    fresh.on('error', () => {});
    fresh.once('connect', () => waiting !== null && fresh.write(waiting));
    const reader = readAnswers((ok) => {
      waiting = null;
      answered(connection, ok, performance.now() - sentAt);
    });
    fresh.on('data', (chunk: Buffer) => reader.take(chunk));
    fresh.once('close', () => {
      // As any client does: a request that got no answer at all is sent again on a new connection.
      if (isOver || waiting === null || reader.hasBegun()) return;
      onResent();
      socket = open();
    });
    return fresh;
  }
}

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** An answer is over when as many bytes came as it announced. */
function readAnswers(over: (ok: boolean) => void): { take(chunk: Buffer): void; hasBegun(): boolean } {
  let head = '';
  let ok = false;
  /** Bytes of the body that are still to come; null before the head is whole. */
  let left: number | null = null;
  return {
    hasBegun: () => head !== '' || left !== null,
    take(chunk) {
      if (left === null) {
        head += chunk.toString('latin1');
        const at = head.indexOf('\r\n\r\n');
        if (at < 0) return;
        ok = head.startsWith('HTTP/1.1 200');
        left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN) - (head.length - at - 4);
        head = '';
      } else left -= chunk.length;
      if (left > 0) return;
      const isWhole = left === 0;
      left = null;
      over(ok && isWhole);
    },
  };
}
