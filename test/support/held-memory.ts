import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Megabytes that somebody holds on to: what nobody does is collected first. */
export async function heldMb(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The room of buffers is given back in the background, and that is waited for by the next collection.
  for (let time = 0; time < 2; time += 1) {
    collect();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
