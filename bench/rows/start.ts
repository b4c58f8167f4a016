import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { CLI, commandMs, issues, launch, makeFolder, workflow } from '../support/daemon.ts';
import { atMost, median, timesFloor, type Row } from '../table.ts';
import { storeRetries } from '../support/retries.ts';

const ROUNDS = 25;

/** Starts of the command, against the start of Node itself. */
export async function startRows(): Promise<Row[]> {
  const directory = await makeFolder({ 'WORKFLOW.md': workflow({}), 'issues.json': '[]' });
  const node = process.execPath;
  // In turns, and the best of each: what else the machine does then falls on all of them alike.
  let [bare, version, validate, poll] = [Infinity, Infinity, Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare = Math.min(bare, await commandMs([node, '-e', '0'], directory));
    version = Math.min(version, await commandMs([node, CLI, '--version'], directory));
    validate = Math.min(validate, await commandMs([node, CLI, 'validate', 'WORKFLOW.md'], directory));
    const daemon = await launch(directory);
    poll = Math.min(poll, await daemon.until('tick completed'));
    await daemon.stop();
  }
  return [
    timesFloor(`foray --version (best of ${ROUNDS})`, 'ms', version, bare, 1.2),
    timesFloor(`foray validate (best of ${ROUNDS})`, 'ms', validate, bare, 2.5),
    timesFloor(`start to first answered poll (best of ${ROUNDS})`, 'ms', poll, bare, 4),
    await restart(),
  ];
}

/** A daemon that comes back to much that waits. */
async function restart(): Promise<Row> {
  const [retries, workspaces] = [10_000, 1_000];
  const directory = await makeFolder({ 'WORKFLOW.md': workflow({}), 'issues.json': JSON.stringify(issues(retries)) });
  await storeRetries(directory, retries);
  for (let index = 1; index <= workspaces; index += 1) mkdirSync(path.join(directory, 'ws', `B-${index}`), { recursive: true });
  const times: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const daemon = await launch(directory);
    times.push(await daemon.until('tick completed'));
    await daemon.stop();
  }
  return atMost('restart with 10,000 retries and 1,000 workspaces to first tick', 'ms', median(times), 1_000);
}
