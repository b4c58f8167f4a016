import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../test/support/options.mjs';
import { startPostgres } from '../test/support/postgres.ts';
import { CLI, launch, makeFolder, processorMs, workflow } from './support/daemon.ts';
import { removeFolders } from './support/folders.ts';
import { buildGithub } from './support/remote.ts';
import { percentile } from './table.ts';

/**
 * `npm run bench:fleet`: a service, a PostgreSQL server, workers and a tracker over HTTP, all on this machine, from a full
 * queue to the last handoff. The workers are the real ones; several share a process, since a machine of two cores has no
 * room for fifty. The tracker is no file: one that holds ten thousand issues is read whole at every look.
 */
const usage = 'npm run bench:fleet -- [--issues N] [--workers N] [--slots N] [--processes N] [--turn MS] [--profile FOLDER]';
const { values, count } = readOptions(usage, {
  issues: { type: 'string', default: '10000' },
  workers: { type: 'string', default: '50' },
  slots: { type: 'string', default: '2' },
  processes: { type: 'string', default: '5' },
  /** Milliseconds that a session takes. */
  turn: { type: 'string', default: '0' },
  /** A folder for a profile of the service's processor time. */
  profile: { type: 'string' },
});
const [size, workers, slots, processes] = [count('issues'), count('workers'), count('slots'), count('processes')];

const root = process.env['FORAY_BENCH_ROOT'] ?? process.cwd();
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
const postgres = await startPostgres({ settings: { fsync: 'on', max_connections: String(100 + workers * (slots + 12)) } });
const url = await postgres.createDatabase();
const remote = await buildGithub(size);
const folder = await makeFolder({
  'WORKFLOW.md': workflow({
    tracker: remote.tracker,
    intervalMs: 30_000,
    agent: `  max_concurrent_agents: ${workers * slots}\n  run_on: []`,
    mock: `  turn_delay_ms: ${count('turn', 0)}`,
    more: 'store:\n  url: $FLEET_DB',
  }),
});
const profile = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
const service = await launch(folder, {
  program: { name: 'foray', command: [process.execPath, ...profile, CLI] },
  env: { FLEET_DB: url, ...remote.env },
});
const cpuBefore = processorMs(service.pid);
const machineBefore = machineTimes();
const begin = performance.now();
const hosts = await Promise.all(Array.from({ length: processes }, (_, index) => startHost(index)));
const startedAfter = performance.now() - begin;
await service.until('releasing claim', size);
const seconds = (performance.now() - begin) / 1_000;
const cpuMs = processorMs(service.pid) - cpuBefore;
const idle = idleSince(machineBefore);
const shares = runsOfWorkers(service.log());
const [counted] = await postgres.query('SELECT sum(xact_commit)::integer AS commits FROM pg_stat_database');
const failed = service.count('msg="retry scheduled"');
const reasons = new Set([...service.log().matchAll(/msg="retry scheduled".* error="([^"]*)/g)].map(([, why]) => why));
const requests = remote.requests().length;
const workersMs = hosts.reduce((sum, { pid }) => sum + processorMs(pid ?? 0), 0);
const gaps = (await Promise.all(hosts.map(endHost))).flat();
await service.stop();
await postgres.remove();
await remote.close();
await removeFolders();
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

/** Of all processors together, in milliseconds. */
function machineTimes(): { readonly idle: number; readonly all: number } {
  const times = os.cpus().map(({ times }) => times);
  const sum = (of: (one: (typeof times)[number]) => number): number => times.reduce((total, one) => total + of(one), 0);
  return { idle: sum((one) => one.idle), all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq) };
}

/** The part of the time that processors had nothing to do, whoever kept them busy. */
function idleSince(before: ReturnType<typeof machineTimes>): number {
  const now = machineTimes();
  return (now.idle - before.idle) / (now.all - before.all);
}

/** How many runs each worker had, fewest first. */
function runsOfWorkers(log: string): readonly number[] {
  const counts = new Map<string, number>();
  for (const [, name = ''] of log.matchAll(/ workspace=(w\d+):/g)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts.values()].toSorted((a, b) => a - b);
}

function tell(): void {
  const cores = os.cpus();
  const rows = [
    ['runs', String(size)],
    ['workers, slots of each, processes they share', `${workers}, ${slots}, ${processes}`],
    ['until all workers were there', `${(startedAfter / 1_000).toFixed(1)} s`],
    ['from the start of the first worker to the last handoff', `${seconds.toFixed(1)} s`],
    ['runs a second', (size / seconds).toFixed(1)],
    ['processor time of the leader for a run', `${(cpuMs / size).toFixed(2)} ms`],
    ['processor time of the workers for a run', `${(workersMs / size).toFixed(2)} ms`],
    ['requests to the tracker for a run, polls included', (requests / size).toFixed(1)],
    ['from a free slot to the next start, median', `${percentile(gaps, 0.5).toFixed(0)} ms`],
    ['from a free slot to the next start, 99th percentile', `${percentile(gaps, 0.99).toFixed(0)} ms`],
    ['transactions of the database for a run', (Number(counted?.['commits']) / size).toFixed(0)],
    ['runs of a worker, fewest and most', `${shares[0] ?? 0} and ${shares.at(-1) ?? 0}`],
    ['processors of this machine without anything to do', `${(idle * 100).toFixed(0)} %`],
    ['runs that failed', String(failed)],
  ];
  console.log(`node ${process.version}, ${cores.length} cores of ${cores[0]?.model.trim() ?? 'an unknown processor'}`);
  if (failed > 0) rows.push(['because', [...reasons].slice(0, 3).join(' | ')]);
  for (const [name = '', value = ''] of rows) console.log(`${name.padEnd(55)} ${value}`);
}
