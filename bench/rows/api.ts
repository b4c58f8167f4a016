import { Agent, request } from 'node:http';
import { sampleAnswers, startBareServer } from '../../test/support/bare-server.ts';
import { issues, launch, makeFolder, workflow } from '../support/daemon.ts';
import { percentile, timesFloor, told, type Row } from '../table.ts';

const RUNNING = 1_000;
const CLIENTS = 64;
const REQUESTS = 1_000;
/** Both in turns: what else the machine does falls on both alike. */
const TURNS = 4;
const ROUTE = '/api/v1/state';

/** The state of many running sessions, asked for by many clients at once. */
export async function apiRows(): Promise<Row[]> {
  const directory = await makeFolder({
    'WORKFLOW.md': workflow({ agent: `  max_concurrent_agents: ${RUNNING}`, mock: '  turn_delay_ms: 600000' }),
    'issues.json': JSON.stringify(issues(RUNNING)),
  });
  const daemon = await launch(directory);
  await daemon.until('msg="turn started"', RUNNING);
  const bare = await startBareServer(await sampleAnswers(daemon.url, [ROUTE]));
  for (const { url } of [bare, daemon]) await ask(`${url}${ROUTE}`, CLIENTS * 4);
  const [floor, times]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    floor.push(...(await ask(`${bare.url}${ROUTE}`, REQUESTS)));
    times.push(...(await ask(`${daemon.url}${ROUTE}`, REQUESTS)));
  }
  bare.child.kill();
  await daemon.stop();
  const name = 'GET /api/v1/state, 1,000 running, 64 clients';
  return [
    timesFloor(`${name}, 99th percentile`, 'ms', percentile(times, 0.99), percentile(floor, 0.99), 1.5),
    told(`${name}, median (bare: ${percentile(floor, 0.5).toFixed(1)})`, 'ms', percentile(times, 0.5)),
  ];
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
