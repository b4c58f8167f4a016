// Beside the targets in a thread of its own: an input that never ends would keep its own thread from telling of it.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { workerData } from 'node:worker_threads';

const { counters, bytes, longestMs, folder } = workerData;
const [COUNT, LENGTH] = [0, 1];
let seen = -1;
let since = performance.now();
setInterval(() => {
  const count = Atomics.load(counters, COUNT);
  if (count !== seen || count % 2 === 0) {
    [seen, since] = [count, performance.now()];
    return;
  }
  if (performance.now() - since < longestMs) return;
  const input = Buffer.from(bytes.slice(0, Atomics.load(counters, LENGTH)));
  const file = path.join(folder, createHash('sha256').update(input).digest('hex').slice(0, 12));
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, input);
  writeSync(2, `FOUND an input that did not end within ${longestMs} ms, kept as ${file}\n`);
  process.kill(process.pid, 'SIGKILL');
}, longestMs / 10);
