import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createKnownSecrets } from '../../src/app/secrets.ts';
import { openWorker } from '../../src/app/worker/worker.ts';
import type { Logger } from '../../src/ports/runtime.ts';

/**
 * Several workers in one process, each with connections and a root of its own, as `foray worker` starts them. At the end it
 * prints how long each slot that became free waited for its next run, in milliseconds.
 */
const [url = '', version = '', folder = '', slots = '1', ...names] = process.argv.slice(2);
const gaps: number[] = [];

const workers = await Promise.all(names.map(start));
process.send?.('started');
process.once('SIGTERM', () => {
  for (const worker of workers) worker.drain();
});
await Promise.all(workers.map(({ done }) => done));
process.stdout.write(JSON.stringify(gaps), () => process.exit(0));

function start(name: string) {
  const root = path.join(folder, name);
  mkdirSync(root, { recursive: true });
  const env = { PATH: process.env['PATH'], HOME: folder };
  const options = { url, name, host: name, slots: Number(slots), labels: [], root, env, version, secrets: createKnownSecrets() };
  return openWorker({ ...options, logger: createWatch(), interrupted: new AbortController().signal });
}

/** Measures from the end of a run to the beginning of the next, by what the worker itself says. */
function createWatch(): Logger {
  const free: number[] = [];
  return {
    debug: () => {},
    warn: () => {},
    error: (message, facts) => console.error(message, facts),
    info(message) {
      if (message === 'run ended') free.push(performance.now());
      if (message !== 'run taken') return;
      const since = free.shift();
      if (since !== undefined) gaps.push(performance.now() - since);
    },
  };
}
