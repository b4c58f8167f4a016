import { createServer, request } from 'node:http';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { issues, launch, makeFolder, workflow } from '../support/daemon.ts';
import { percentile, timesFloor, told, type Row } from '../table.ts';

const RUNNING = 1_000;
const CLIENTS = 64;
const REQUESTS = 3_000;

/** The state of many running sessions, asked for by many clients at once. */
export async function apiRows(): Promise<Row[]> {
  const directory = await makeFolder({
    'WORKFLOW.md': workflow({ agent: `  max_concurrent_agents: ${RUNNING}`, mock: '  turn_delay_ms: 600000' }),
    'issues.json': JSON.stringify(issues(RUNNING)),
  });
  const daemon = await launch(directory);
  await daemon.until('msg="turn started"', RUNNING);
  const url = `${daemon.url}/api/v1/state`;
  const body = Buffer.from(await (await fetch(url)).arrayBuffer());
  const bare = await startBare(body);
  await ask(bare.url, CLIENTS * 4);
  const floor = await ask(bare.url, REQUESTS);
  await ask(url, CLIENTS * 4);
  const times = await ask(url, REQUESTS);
  bare.close();
  await daemon.stop();
  const name = 'GET /api/v1/state, 1,000 running, 64 clients';
  return [
    timesFloor(`${name}, 99th percentile`, 'ms', percentile(times, 0.99), percentile(floor, 0.99), 1.5),
    told(`${name}, median (bare: ${percentile(floor, 0.5).toFixed(1)})`, 'ms', percentile(times, 0.5)),
  ];
}

/** Sends the same bytes. */
async function startBare(body: Buffer): Promise<{ url: string; close(): void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

/** The time of each request, with so many clients that each wait for their answer. */
async function ask(url: string, size: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const times: number[] = [];
  let left = size;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const begin = performance.now();
      await get(url, agent);
      times.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return times;
}

function get(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume();
      response.once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
}
