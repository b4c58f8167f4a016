// Measures the orchestrator itself, on this machine, with the mock agent: `npm run bench`. No network, no account.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

const results = [await coldStart(), ...(await throughput(500)), ...(await bigPoll(5_000)), await recovery()];
console.log(`node ${process.version}, ${os.cpus().length} cores, ${os.cpus()[0]?.model ?? 'unknown processor'}`);
for (const { name, value, unit } of results)
  console.log(`${name.padEnd(62)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}`);

/** From the command to the first poll that was answered. */
async function coldStart() {
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    const daemon = await start({ issues: [], agent: '' });
    times.push(await daemon.until('tick completed'));
    await daemon.end();
  }
  return { name: 'start to first answered poll (median of 5)', value: median(times), unit: 'ms' };
}

/** Many small issues through the whole life: dispatch, one turn, handoff. */
async function throughput(count) {
  const daemon = await start({ issues: issues(count), agent: 'max_turns: 1\n  max_concurrent_agents: 10' });
  const begin = performance.now();
  await daemon.until('handoff transition succeeded, releasing claim', count);
  const seconds = (performance.now() - begin) / 1000;
  const memory = await residentMb(daemon.pid);
  await daemon.end();
  return [
    { name: `issues handed off, ${count} of them, 10 at once`, value: count / seconds, unit: '/s' },
    { name: `resident memory after ${count} runs`, value: memory, unit: 'MB' },
  ];
}

/** The API while a large board is polled ten times a second. */
async function bigPoll(count) {
  const daemon = await start({
    issues: issues(count),
    agent: 'max_turns: 1\n  max_concurrent_agents: 2',
    mock: 'turn_delay_ms: 600000',
  });
  await daemon.until('tick completed');
  const times = [];
  for (let request = 0; request < 300; request += 1) {
    const begin = performance.now();
    await (await fetch(`${daemon.url}api/v1/state`)).arrayBuffer();
    times.push(performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const memory = await residentMb(daemon.pid);
  await daemon.end();
  times.sort((a, b) => a - b);
  return [
    { name: `/api/v1/state while ${count} issues are polled, median`, value: median(times), unit: 'ms' },
    {
      name: `/api/v1/state while ${count} issues are polled, 99th percentile`,
      value: times[Math.floor(times.length * 0.99)] ?? 0,
      unit: 'ms',
    },
    { name: `resident memory with ${count} candidates`, value: memory, unit: 'MB' },
  ];
}

/** kill -9 in the middle of a turn, then from the command to the same issue's next session. */
async function recovery() {
  const setup = { issues: issues(1), agent: 'max_turns: 1', mock: 'turn_delay_ms: 600000' };
  const first = await start(setup);
  await first.until('turn started');
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await launch(first.directory);
  const value = await second.until('agent session started');
  await second.end();
  return { name: 'kill -9, then start to the resumed session', value, unit: 'ms' };
}

function issues(count) {
  return Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    identifier: `B-${index}`,
    title: `Issue ${index}`,
    state: 'todo',
    description: 'Lorem ipsum. '.repeat(20),
  }));
}

async function start({ issues: list, agent, mock = '' }) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'foray-bench-'));
  await writeFile(path.join(directory, 'issues.json'), JSON.stringify(list));
  const front = [
    'tracker:\n  kind: file\n  active_states: [todo]\n  terminal_states: [done]\n  handoff_state: review',
    'file:\n  path: issues.json',
    'polling:\n  interval_ms: 100',
    'workspace:\n  root: ws',
    `agent:\n  kind: mock\n  ${agent}`,
    mock === '' ? '' : `mock:\n  ${mock}`,
  ];
  await writeFile(path.join(directory, 'WORKFLOW.md'), `---\n${front.join('\n')}\n---\nWork.\n`);
  return launch(directory);
}

async function launch(directory) {
  const begin = performance.now();
  const { NODE_EXTRA_CA_CERTS: _unused, ...env } = process.env;
  const child = spawn(process.execPath, [CLI, '--port', '0', 'WORKFLOW.md'], {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const waiting = new Set();
  child.stderr.on('data', (chunk) => {
    log += chunk;
    for (const look of waiting) look();
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const until = (message, times = 1) =>
    new Promise((resolve) => {
      const look = () => {
        if (log.split(message).length - 1 < times) return;
        waiting.delete(look);
        resolve(performance.now() - begin);
      };
      waiting.add(look);
      look();
    });
  await until('http server listening');
  const url = /url=(\S+)/.exec(log)?.[1] ?? '';
  const end = async () => {
    child.kill('SIGINT');
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  return { child, pid: child.pid, url, directory, until, exited, end };
}

async function residentMb(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
