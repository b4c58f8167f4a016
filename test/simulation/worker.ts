import { parentPort } from 'node:worker_threads';
import { simulateFleet } from './fleet/simulate-fleet.ts';
import { simulate, Violation } from './simulate.ts';

/** Lives through one seed after the other, as `npm run simulate` hands them out. */
parentPort?.on('message', ({ seed, events, isFleet }: { seed: number; events: number; isFleet: boolean }) => {
  try {
    const result = (isFleet ? simulateFleet : simulate)(seed, events);
    parentPort?.postMessage({ events: result.events, crashes: result.crashes, handoffs: result.handoffs });
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    parentPort?.postMessage({ violation: error.message });
  }
});
