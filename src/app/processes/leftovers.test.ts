import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { isAlive } from '../../../test/support/processes.ts';
import { createLogRecorder } from '../../../test/support/workspaces.ts';
import { processStartTime } from '../../lib/process-identity.ts';
import type { Leftover } from '../../store/records/processes.ts';
import { endLeftovers } from './leftovers.ts';

/** Of this test alone: what carries it anywhere on the machine would be ended. */
const RUN = `leftovers-${process.pid}-${Date.now()}`;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process in a group of its own that carries nothing of ours in its environment. */
async function startBare(): Promise<number> {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { PATH: process.env['PATH'] } });
  children.push(child);
  await once(child, 'spawn');
  return child.pid ?? 0;
}

async function end(...left: readonly Leftover[]) {
  const logger = createLogRecorder();
  const processes = { started() {}, ended() {}, leftovers: () => left, clear() {} };
  await endLeftovers({ processes, dbPath: `/nowhere/${RUN}`, runIds: [] }, logger);
  return logger.records.map(({ attributes }) => attributes['pid']);
}

it('ends what was written down, also where it dropped its environment, and no stranger who has its number by now', async () => {
  const [ours, stranger] = [await startBare(), await startBare()];
  const told = await end(
    { pid: ours, startTime: processStartTime(ours) ?? '', owner: RUN },
    { pid: stranger, startTime: 'another', owner: RUN },
  );
  expect(told).toEqual([ours]);
  expect([ours, stranger].map(isAlive)).toEqual([false, true]);
});
