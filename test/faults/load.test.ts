import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type RunningDaemon } from '../support/daemon.ts';
import { MAX_CONNECTIONS } from '../../src/server/http/connections.ts';
import { sampleAnswers, startBareServer } from '../support/bare-server.ts';
import { sendAtRate, type LoadOutcome } from './request-load.ts';

/** By `npm run test:faults` only: it keeps a machine busy for minutes. */
const FULL = process.env['FORAY_FAULTS'] === 'full';

const SESSIONS = 1_000;
const STREAMS = 200;
const IDLE = 5_000;
const SECONDS = Number(process.env['FORAY_LOAD_SECONDS'] ?? 60);
const PER_SECOND = 5_000;
/** For so long a server that does nothing else is asked as well, while the daemon goes on with its sessions and streams. */
const BARE_SECONDS = Math.min(SECONDS, 15);
/** What an open dashboard listens to. */
const DASHBOARD_STREAM = '/api/v2/events?names=snapshot-changed';
/** A machine that is too small, or busy with something else, is told by `FORAY_LOAD_LEAST`: then fewer are enough. */
const LEAST_PER_SECOND = Number(process.env['FORAY_LOAD_LEAST'] ?? PER_SECOND * 0.99);

/** Mostly single issues, now and then everything. */
function routeOf(count: number): string {
  if (count % 500 === 0) return '/api/v1/state';
  if (count % 50 === 1) return `/api/v2/issues/L-${count % SESSIONS}`;
  if (count % 5 === 0) return '/livez';
  return `/api/v1/L-${count % SESSIONS}`;
}

describe.runIf(FULL)('a busy day', { timeout: 600_000 }, () => {
  it(`${SESSIONS} sessions, ${STREAMS} event streams, ${IDLE} idle connections, ${PER_SECOND} requests a second for ${SECONDS} s`, async (test) => {
    const ground = await createPlayground({ patienceMs: 240_000 });
    const sockets: Socket[] = [];
    test.onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      await ground.cleanup();
    });
    const agent = `kind: mock\nmax_turns: 1\nmax_concurrent_agents: ${SESSIONS}`;
    await ground.write('WORKFLOW.md', fileWorkflow({ agent, mock: 'turn_delay_ms: 240000', polling: 'interval_ms: 5000' }));
    await ground.writeIssues(
      Array.from({ length: SESSIONS }, (_, n) => ({ id: `${n}`, identifier: `L-${n}`, title: `Issue ${n}`, state: 'todo' })),
    );
    const daemon = await ground.start();
    const running = async () => ((await daemon.json('/api/v1/state'))['counts'] as { running: number }).running;
    while ((await running()) < SESSIONS) await delay(500);
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(daemon)));
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200));
    sockets.push(...(await openIdle(daemon)));
    const open = (): number => sockets.filter((socket) => !socket.destroyed).length;
    // Those idle longest made room for others.
    await eventually(open, (count) => count <= MAX_CONNECTIONS - STREAMS, 'the end of the other idle ones');
    const [before, cpuBefore] = [residentMb(daemon.pid), processorMs(daemon.pid)];
    const load = await sendAtRate(daemon.url, { perSecond: PER_SECOND, seconds: SECONDS, connections: 64, routeOf });
    const [after, cpuAfter] = [residentMb(daemon.pid), processorMs(daemon.pid)];
    console.log(`${load.sent} of ${PER_SECOND * SECONDS} requests sent in ${SECONDS} s: ${told(load, cpuAfter - cpuBefore)}`);
    console.log(
      `${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after; ${open()} idle connections and ${streams.filter(isOpen).length} streams still open`,
    );
    console.log(`a bare server, asked by the same sender for ${BARE_SECONDS} s: ${await askBare(daemon.url)}`);
    expect(load.failed).toBe(0);
    expect(load.resent).toBeLessThanOrEqual(load.sent / 10_000);
    expect(streams.filter(isOpen)).toHaveLength(STREAMS);
    expect(load.answered).toBeGreaterThanOrEqual(LEAST_PER_SECOND * SECONDS);
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
  });
});

function told({ answered, failed, resent, senderBusy, medianMs, p99Ms }: LoadOutcome, processorTimeMs: number): string {
  return (
    `${answered} answered, ${failed} failed, ${resent} sent again, sender busy ${(senderBusy * 100).toFixed(0)} %, half within ${medianMs.toFixed(1)} ms, ` +
    `99 % within ${p99Ms.toFixed(1)} ms, ${(processorTimeMs / answered).toFixed(3)} ms of processor time each`
  );
}

/** The floor: the same headers and as many bytes from a server of Node's that has nothing to look up. */
async function askBare(url: string): Promise<string> {
  const { url: bare, child } = await startBareServer(
    await sampleAnswers(url, ['/api/v1/L-1', '/api/v2/issues/L-1', '/livez', '/api/v1/state']),
  );
  const begin = processorMs(child.pid ?? 0);
  const load = await sendAtRate(bare, { perSecond: PER_SECOND, seconds: BARE_SECONDS, connections: 64, routeOf });
  const cost = processorMs(child.pid ?? 0) - begin;
  child.kill();
  return told(load, cost);
}

/** Its events are read and dropped. */
function openStream({ url }: RunningDaemon): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${url}${DASHBOARD_STREAM}`, (answer) => {
      answer.on('error', () => {}).resume();
      resolve(answer);
    }).on('error', reject);
  });
}

function isOpen(stream: IncomingMessage): boolean {
  return !stream.destroyed && !stream.readableEnded;
}

/** All of them have got through before the requests begin: while thousands knock at once, everybody waits. */
async function openIdle(daemon: RunningDaemon): Promise<Socket[]> {
  const { hostname, port } = new URL(daemon.url);
  const through: Promise<unknown>[] = [];
  const sockets: Socket[] = [];
  for (let count = 0; count < IDLE; count += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    through.push(new Promise((resolve) => socket.once('connect', resolve).once('close', resolve)));
    sockets.push(socket);
    if (count % 100 === 99) await delay(20);
  }
  await Promise.all(through);
  return sockets;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
}

/** Of the process, in all its threads; a hundred ticks are a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
