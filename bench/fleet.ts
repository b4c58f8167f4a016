import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/postgres.ts';
import { issues, launch, makeFolder, processorMs, workflow } from './support/daemon.ts';
import { percentile } from './table.ts';

/**
 * `npm run bench:fleet`: a service, a PostgreSQL server and workers, all on this machine, from a full queue to the last
 * handoff. The workers are the real ones; several share a process, since a machine of two cores has no room for fifty.
 */
const { values } = parseArgs({
  options: {
    issues: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '50' },
    slots: { type: 'string', default: '2' },
    processes: { type: 'string', default: '5' },
    /** Milliseconds that a session takes. */
    turn: { type: 'string', default: '0' },
  },
});
const [size, workers, slots, processes] = [values.issues, values.workers, values.slots, values.processes].map(Number) as [
  number,
  number,
  number,
  number,
];

const root = process.env['FORAY_BENCH_ROOT'] ?? process.cwd();
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
const postgres = await startPostgres({ settings: { fsync: 'on', max_connections: String(100 + workers * (slots + 12)) } });
const url = await postgres.createDatabase();
const folder = await makeFolder({
  'WORKFLOW.md': workflow({
    intervalMs: 30_000,
    agent: `  max_concurrent_agents: ${workers * slots}\n  run_on: []`,
    mock: `  turn_delay_ms: ${values.turn}`,
    more: 'store:\n  url: $FLEET_DB',
  }),
  'issues.json': JSON.stringify(issues(size)),
});
const prof = process.env["FLEET_PROF"];
const service = await launch(folder, { ...(prof ? { program: { name: "foray", command: [process.execPath, "--cpu-prof", `--cpu-prof-dir=${prof}`, path.join(root, "dist/cli.js")] } } : {}), env: { FLEET_DB: url } });
const cpuBefore = processorMs(service.pid);
const begin = performance.now();
const hosts = await Promise.all(Array.from({ length: processes }, (_, index) => startHost(index)));
const startedAfter = performance.now() - begin;
await service.until('releasing claim', size);
const seconds = (performance.now() - begin) / 1_000;
const cpuMs = processorMs(service.pid) - cpuBefore;
const failed = service.count('msg="retry scheduled"');
const gaps = (await Promise.all(hosts.map(endHost))).flat();
await service.end();
await postgres.remove();
await rm(folder, { recursive: true, force: true });
tell();
process.exit(failed === 0 ? 0 : 1);

async function startHost(index: number): Promise<ChildProcess> {
  const names = Array.from({ length: workers }, (_, number) => `w${number + 1}`).filter(
    (_, number) => number % processes === index,
  );
  const program = fileURLToPath(new URL('./fleet-workers.mjs', import.meta.url));
  const child = fork(program, [url, version, path.join(folder, 'hosts'), String(slots), ...names], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return child;
}

async function endHost(child: ChildProcess): Promise<number[]> {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.kill('SIGTERM');
  await once(child, 'close');
  return JSON.parse(text) as number[];
}

function tell(): void {
  const cores = os.cpus();
  const rows = [
    ['runs', String(size)],
    ['workers, slots of each, processes they share', `${workers}, ${slots}, ${processes}`],
    ['until all workers were there', `${(startedAfter / 1_000).toFixed(1)} s`],
    ['from the first worker to the last handoff', `${seconds.toFixed(1)} s`],
    ['runs a second', (size / seconds).toFixed(1)],
    ['processor time of the leader for a run', `${(cpuMs / size).toFixed(2)} ms`],
    ['from a free slot to the next start, median', `${percentile(gaps, 0.5).toFixed(0)} ms`],
    ['from a free slot to the next start, 99th percentile', `${percentile(gaps, 0.99).toFixed(0)} ms`],
    ['runs that failed', String(failed)],
  ];
  console.log(`node ${process.version}, ${cores.length} cores of ${cores[0]?.model.trim() ?? 'an unknown processor'}`);
  for (const [name = '', value = ''] of rows) console.log(`${name.padEnd(55)} ${value}`);
}
