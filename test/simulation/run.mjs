// npm run simulate -- --events N [--seed S] [--fleet]: months of operation with random faults and crashes, over many seeds.
// With --fleet: several daemons and workers on one database.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { readOptions } from '../support/options.mjs';

const EVENTS_PER_SEED = 20_000;
const { values, count } = readOptions('npm run simulate -- --events N [--seed S] [--fleet]', {
  events: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  fleet: { type: 'boolean', default: false },
});
const [wanted, firstSeed] = [count('events'), count('seed', 0)];

const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-simulate-'));
try {
  process.exitCode = await run(await bundle(folder));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function bundle(outdir) {
  const outfile = path.join(outdir, 'worker.mjs');
  const entryPoints = [path.join(path.dirname(fileURLToPath(import.meta.url)), 'worker.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' });
  return outfile;
}

/** One worker a core, each with the next seed until there are enough events. */
async function run(worker) {
  const eventsPerSeed = Math.min(EVENTS_PER_SEED, wanted);
  const lastSeed = firstSeed + Math.ceil(wanted / eventsPerSeed) - 1;
  const startedAt = performance.now();
  const sums = { events: 0, crashes: 0, handoffs: 0 };
  let next = firstSeed;
  /** @type {string | null} */
  let violation = null;
  console.log(`seeds ${firstSeed} to ${lastSeed}, ${eventsPerSeed} events each`);
  await Promise.all(Array.from({ length: os.availableParallelism() }, work));
  const seconds = (performance.now() - startedAt) / 1000;
  const rate = Math.round(sums.events / seconds);
  console.log(
    `${sums.events} events, ${sums.crashes} crashes, ${sums.handoffs} moves in ${seconds.toFixed(1)} s, ${rate} events/s`,
  );
  console.log(violation === null ? 'every promise was kept' : `BROKEN: ${String(violation)}`);
  return violation === null ? 0 : 1;

  async function work() {
    const thread = new Worker(worker);
    for (let seed = next++; seed <= lastSeed && violation === null; seed = next++) {
      thread.postMessage({ seed, events: eventsPerSeed, isFleet: values.fleet });
      const [answer] = await once(thread, 'message');
      if (answer.violation) violation = answer.violation;
      else for (const name of Object.keys(sums)) sums[name] += answer[name];
      if ((seed - firstSeed + 1) % 50 === 0) console.log(`seed ${seed}: ${sums.events} events so far`);
    }
    await thread.terminate();
  }
}
