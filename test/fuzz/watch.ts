import path from 'node:path';
import { Worker } from 'node:worker_threads';

/** Ends the process when an input takes for ever, and keeps that input. */
export interface Watch {
  begin(input: string): void;
  end(): void;
  close(): Promise<void>;
}

const LONGEST_INPUT_BYTES = 4 * 1024 * 1024;

/** `seeds` is where findings of all targets are kept, beside the program of the watch; `own` is for those of this one. */
export function startWatch(seeds: string, own: string, longestMs: number): Watch {
  const counters = new Int32Array(new SharedArrayBuffer(8));
  const bytes = new Uint8Array(new SharedArrayBuffer(LONGEST_INPUT_BYTES));
  const encoder = new TextEncoder();
  const worker = new Worker(path.join(seeds, '..', 'watch.mjs'), { workerData: { counters, bytes, longestMs, folder: own } });
  return {
    begin(input) {
      Atomics.store(counters, 1, encoder.encodeInto(input, bytes).written);
      Atomics.add(counters, 0, 1);
    },
    // An odd count says that an input is under way.
    end: () => void Atomics.add(counters, 0, 1),
    close: async () => void (await worker.terminate()),
  };
}
