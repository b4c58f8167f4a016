import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow } from '../support/daemon.ts';

/** By `npm run test:faults` only: it keeps a machine busy for minutes. */
const FULL = process.env['FORAY_FAULTS'] === 'full';

const SESSIONS = 1_000;
const STREAMS = 200;
const IDLE = 5_000;
const SECONDS = 60;
const PER_SECOND = 5_000;

describe.runIf(FULL)('a busy day', { timeout: 600_000 }, () => {
  it(`${SESSIONS} sessions, ${STREAMS} event streams, ${IDLE} idle connections and all the requests that are sent in a minute`, async () => {
    const ground = await createPlayground({ patienceMs: 240_000 });
    const sockets: Socket[] = [];
    try {
      const agent = `kind: mock\nmax_turns: 1\nmax_concurrent_agents: ${SESSIONS}`;
      await ground.write('WORKFLOW.md', fileWorkflow({ agent, mock: 'turn_delay_ms: 240000', polling: 'interval_ms: 5000' }));
      await ground.writeIssues(
        Array.from({ length: SESSIONS }, (_, n) => ({ id: `${n}`, identifier: `L-${n}`, title: `Issue ${n}`, state: 'todo' })),
      );
      const daemon = await ground.start();
      const running = async () => ((await daemon.json('/api/v1/state'))['counts'] as { running: number }).running;
      while ((await running()) < SESSIONS) await delay(500);
      const { hostname, port } = new URL(daemon.url);
      const streams = Array.from({ length: STREAMS }, () => get(`${daemon.url}/api/v2/events`, (answer) => answer.resume()));
      for (const stream of streams) stream.on('error', () => {});
      for (let count = 0; count < IDLE; count += 1) {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => {});
        sockets.push(socket);
        if (count % 200 === 0) await delay(10);
      }
      const before = residentMb(daemon.pid);
      const { sent, failed } = await load(`${daemon.url}/livez`);
      const after = residentMb(daemon.pid);
      console.log(
        `${sent} requests in ${SECONDS} s, ${failed} failed; ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`,
      );
      expect(failed).toBe(0);
      expect(after - before).toBeLessThan(200);
      expect(await running()).toBe(SESSIONS);
      for (const stream of streams) stream.destroy();
      for (const socket of sockets) socket.destroy();
      await eventually(
        async () => (await daemon.get('/livez')).status,
        (status) => status === 200,
        'an answer',
      );
      expect((await daemon.stop()).code).toBe(0);
    } finally {
      for (const socket of sockets) socket.destroy();
      await ground.cleanup();
    }
  });
});

/** As many requests as the machine can send, up to the rate. */
async function load(url: string): Promise<{ sent: number; failed: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const until = performance.now() + SECONDS * 1_000;
  let [sent, failed] = [0, 0];
  const begin = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const due = begin + (sent / PER_SECOND) * 1_000;
      if (due > performance.now()) await delay(due - performance.now());
      sent += 1;
      await once(url, agent).catch(() => (failed += 1));
    }
  };
  await Promise.all(Array.from({ length: 50 }, client));
  agent.destroy();
  return { sent, failed };
}

function once(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      answer.resume();
      answer.once('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(String(answer.statusCode)))));
    }).once('error', reject);
  });
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
}
