import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { issues, launch, makeFolder, residentKb, workflow } from '../support/daemon.ts';
import type { HistoryFigures, SessionFigures } from '../support/inside.ts';
import { atMost, count, median, none, timesFloor, type Row } from '../table.ts';

/** Both many: what a daemon takes for its first sessions, such as compiled code, is not what one more costs. */
const RUNNING = [500, 2_500] as const;
const HERE = path.dirname(fileURLToPath(import.meta.url));

/** Resident memory, and what many sessions leave behind on the heap. */
export async function memoryRows(): Promise<Row[]> {
  const sessions = outputOf(['--expose-gc', path.join(HERE, 'inside.mjs'), 'sessions']);
  const bare = await residentOf([path.join(HERE, 'inside.mjs'), 'libraries']);
  const idle = await idleKb();
  const perSession = await sessionKb();
  const after = JSON.parse(await sessions) as SessionFigures;
  return [
    timesFloor('resident memory, idle', 'MB', idle / 1024, bare / 1024, 1.25),
    atMost(`resident memory per running session, from ${RUNNING.map(count).join(' to ')}`, 'KiB', perSession, 64),
    atMost(`heap growth over ${count(after.sessions)} sessions of as many issues`, 'MB', after.grownMb, 5),
  ];
}

/** What falls out of the history, and whom that keeps waiting. */
export async function historyRows(): Promise<Row[]> {
  const output = await outputOf(['--expose-gc', path.join(HERE, 'inside.mjs'), 'history']);
  const { forgotten, left, stallMs } = JSON.parse(output) as HistoryFigures;
  return [
    none(`runs older than db_retention_days left, of ${count(forgotten)}`, left),
    atMost('longest stall of the event loop while they are forgotten', 'ms', stallMs, 50),
  ];
}

async function idleKb(): Promise<number> {
  const daemon = await launch(await makeFolder({ 'WORKFLOW.md': workflow({}), 'issues.json': '[]' }));
  await daemon.until('tick completed');
  await settle();
  const value = residentKb(daemon.pid);
  await daemon.stop();
  return value;
}

/** What so many more sessions take of the same daemon over the same issues. */
async function sessionKb(): Promise<number> {
  const [few, many] = RUNNING;
  return Math.max(0, ((await runningKb(many)) - (await runningKb(few))) / (many - few));
}

async function runningKb(running: number): Promise<number> {
  const files = {
    'WORKFLOW.md': workflow({ agent: `  max_concurrent_agents: ${running}`, mock: '  turn_delay_ms: 600000' }),
    'issues.json': JSON.stringify(issues(Math.max(...RUNNING))),
  };
  const daemon = await launch(await makeFolder(files));
  await daemon.until('msg="turn started"', running);
  await settle();
  const samples: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    samples.push(residentKb(daemon.pid));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await daemon.stop();
  return median(samples);
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}

/** A process that loads the same libraries and does nothing. */
async function residentOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await settle();
  const value = residentKb(child.pid ?? 0);
  child.kill();
  return value;
}

function outputOf(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.once('close', () => resolve(text)));
}
