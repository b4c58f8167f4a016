import { launch, makeFolder, residentKb, workflow, FORAY, type Program } from '../support/daemon.ts';
import { median, percentile, told, type Row } from '../table.ts';
import { onFile } from './sessions.ts';

/** The rows that any daemon of this shape can run, for ours and the others in the same run. */
export async function peerRows(peers: readonly Program[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const program of [FORAY, ...peers]) rows.push(...(await rowsOf(program)));
  return rows;
}

async function rowsOf(program: Program): Promise<Row[]> {
  const starts: number[] = [];
  let [idleKb, latencies] = [0, [] as number[]];
  for (let round = 0; round < 5; round += 1) {
    const daemon = await launch(await makeFolder({ 'WORKFLOW.md': workflow({}), 'issues.json': '[]' }), { program });
    starts.push(await daemon.until('tick completed'));
    idleKb = residentKb(daemon.pid);
    latencies = await latenciesOf(`${daemon.url}/api/v1/state`);
    await daemon.stop();
  }
  const size = 500;
  const { seconds, cpuMs } = await onFile(size, { program, intervalMs: 500 });
  return [
    told(`${program.name}: start to first answered poll`, 'ms', median(starts)),
    told(`${program.name}: ${size} mock sessions over one JSON file`, 's', seconds),
    told(`${program.name}: processor time per issue`, 'ms', cpuMs),
    told(`${program.name}: resident memory, idle`, 'MB', idleKb / 1024),
    told(`${program.name}: GET /api/v1/state, 99th percentile`, 'ms', percentile(latencies, 0.99)),
  ];
}

async function latenciesOf(url: string): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < 200; count += 1) {
    const begin = performance.now();
    await (await fetch(url)).arrayBuffer();
    times.push(performance.now() - begin);
  }
  return times;
}
