import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPlayground, fileWorkflow, type RunningDaemon } from '../support/daemon.ts';

/** By `npm run test:faults` only; the suite has each of the three on its own, in `src/server`. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const STREAMS = 480;
const IDLE = 5_000;
const SILENT = 512;
/** What a daemon of hardly a hundred may grow by, whoever is connected. */
const GROWTH_MB = 300;

/** Sends this and then neither reads nor closes. */
function hold(daemon: RunningDaemon, text: string): Socket {
  const { hostname, port } = new URL(daemon.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => {});
  socket.pause();
  if (text !== '') socket.write(text);
  return socket;
}

const EVENTS = 'GET /api/v2/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

describe.runIf(FULL)('clients that take and do not read', { timeout: 240_000 }, () => {
  it(`${STREAMS} event streams, ${IDLE} idle and ${SILENT} half-closed connections: memory is bounded, the API answers`, async () => {
    const ground = await createPlayground({ patienceMs: 60_000 });
    const sockets: Socket[] = [];
    const open = async (count: number, text: string, end = false): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        const socket = hold(daemon, text);
        if (end) socket.end();
        sockets.push(socket);
        if (index % 100 === 99) await delay(10);
      }
      await answers();
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
      await open(STREAMS, EVENTS);
      await open(IDLE, '');
      await open(SILENT, 'GET / HTTP/1.1\r\n', true);
      await delay(30_000);
      await answers();
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
