import type { WorkerRow } from '../../src/ports/run-queue.ts';

/** A worker as the database knows it, with two slots. */
export function aWorker(name: string, parts: Partial<WorkerRow> = {}): WorkerRow {
  return {
    id: `${name}#1`,
    name,
    identity: name,
    labels: [],
    slots: 2,
    version: '0.1.0',
    load: 0,
    heardAt: 0,
    silentMs: 0,
    draining: false,
    ...parts,
  };
}
