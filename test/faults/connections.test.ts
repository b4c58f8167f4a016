import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MAX_STREAMS } from '../../src/server/events-stream.ts';
import { MAX_CONNECTIONS } from '../../src/server/http/connections.ts';
import { createPlayground, eventually, fileWorkflow, type RunningDaemon } from '../support/daemon.ts';

/** By `npm run test:faults` only; the suite has each of the three on its own, in `src/server`. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const STREAMS = 480;
const IDLE = 5_000;
const SILENT = 512;
/** It listens and speaks to who started it by some as well. */
const OWN_SOCKETS = 16;
/** What a daemon of hardly a hundred may grow by, whoever is connected. */
const GROWTH_MB = 300;

interface Held {
  readonly socket: Socket;
  /** Of the answer, once it has begun. */
  status: number | null;
}

/** Sends this, reads no more than how the answer begins, and does not close. */
function hold(daemon: RunningDaemon, text: string, halfClosed: boolean): Held {
  const { hostname, port } = new URL(daemon.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: halfClosed });
  const held: Held = { socket, status: null };
  socket.on('error', () => {});
  socket.once('data', (chunk) => {
    socket.pause();
    held.status = Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1] ?? 0);
  });
  if (text !== '') socket.write(text);
  if (halfClosed) socket.end();
  return held;
}

const streamOf = (query: string): string => `GET /api/v2/events${query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/** How often each status was answered, once all are. */
async function statuses(held: readonly Held[]): Promise<Readonly<Record<string, number>>> {
  const unanswered = (): number => held.filter(({ status }) => status === null).length;
  await eventually(unanswered, (count) => count === 0, 'an answer to each');
  const found = [...new Set(held.map(({ status }) => status))];
  return Object.fromEntries(found.map((one) => [String(one), held.filter(({ status }) => status === one).length]));
}

describe.runIf(FULL)('clients that take and do not read', { timeout: 240_000 }, () => {
  it(`${STREAMS} that ask for event streams, ${IDLE} idle and ${SILENT} half-closed connections: memory is bounded, the API answers`, async () => {
    const ground = await createPlayground({ patienceMs: 60_000 });
    const sockets: Socket[] = [];
    const open = async (count: number, text: string, halfClosed = false): Promise<readonly Held[]> => {
      const opened: Held[] = [];
      for (let index = 0; index < count; index += 1) {
        opened.push(hold(daemon, text, halfClosed));
        sockets.push(opened.at(-1)!.socket);
        if (index % 100 === 99) await delay(10);
      }
      await answers();
      return opened;
    };
    const answers = async (): Promise<void> => {
      for (let tries = 0; tries < 5; tries += 1) {
        const found = await daemon.get('/api/v1/state', { headers: { connection: 'close' } });
        expect(found.status).toBe(200);
        await found.text();
      }
    };
    // Sessions that say much, so that there is something to be told to who does not read.
    const agent = 'kind: mock\nmax_turns: 20\nmax_concurrent_agents: 20';
    await ground.write('WORKFLOW.md', fileWorkflow({ agent, mock: 'turn_delay_ms: 50', polling: 'interval_ms: 500' }));
    const issues = Array.from({ length: 2_000 }, (_, n) => ({
      id: `${n}`,
      identifier: `L-${n}`,
      title: `Issue ${n} ${'x'.repeat(2_000)}`,
      state: 'todo',
    }));
    await ground.writeIssues(issues);
    const daemon = await ground.start();
    try {
      await daemon.record('tick completed');
      await answers();
      const before = residentMb(daemon.pid);
      // Hardly anything is told to these, so all of them stay.
      const quiet = await statuses(await open(STREAMS, streamOf('?names=snapshot-changed')));
      expect(quiet).toEqual({ 200: MAX_STREAMS, 503: STREAMS - MAX_STREAMS });
      for (const socket of sockets) socket.destroy();
      // One that does not read what it is told is cut off, and makes room for another.
      const noisy = await statuses(await open(STREAMS, streamOf('')));
      expect(Object.keys(noisy).filter((status) => !['200', '503'].includes(status))).toEqual([]);
      expect(noisy[200]).toBeGreaterThan(0);
      await open(IDLE, '');
      await eventually(
        () => socketsOf(daemon.pid),
        (count) => count > MAX_CONNECTIONS / 2,
        'many connections',
      );
      await open(SILENT, 'GET / HTTP/1.1\r\n', true);
      await delay(30_000);
      await answers();
      expect(socketsOf(daemon.pid)).toBeLessThanOrEqual(MAX_CONNECTIONS + OWN_SOCKETS);
      const grown = residentMb(daemon.pid) - before;
      console.log(`${STREAMS} + ${IDLE} + ${SILENT} connections: ${grown.toFixed(0)} MB more`);
      expect(grown).toBeLessThan(GROWTH_MB);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await answers();
    expect((await daemon.stop()).code).toBe(0);
    await ground.cleanup();
  });
});

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
}

/** Whoever is connected, as the system sees it. */
function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => linkOf(`${folder}/${name}`).startsWith('socket:')).length;
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
