import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { isSameProcess, processStartTime } from '../../lib/process-identity.ts';
import type { Sqlite } from './sqlite.ts';
import { defineTable } from '../records/table.ts';

/** The daemon that has a database. */
export interface StoreOwner {
  /** Names this start of the daemon; claims carry it. */
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  readonly workflowPath: string;
}

export interface Instance extends StoreOwner {
  readonly processStart: string;
  readonly startedAt: number;
}

const Columns = once(() =>
  z.object({
    singleton: z.number(),
    id: z.string(),
    pid: z.number(),
    host: z.string(),
    workflow_path: z.string(),
    process_start: z.string(),
    started_at: z.number(),
  }),
);

const INSTANCE = defineTable({
  name: 'instance',
  key: 'singleton',
  columns: Columns,
  toRow: (instance: Instance) => ({
    singleton: 1,
    id: instance.id,
    pid: instance.pid,
    host: instance.host,
    workflow_path: instance.workflowPath,
    process_start: instance.processStart,
    started_at: instance.startedAt,
  }),
  fromRow: (row): Instance => ({
    id: row.id,
    pid: row.pid,
    host: row.host,
    workflowPath: row.workflow_path,
    processStart: row.process_start,
    startedAt: row.started_at,
  }),
});

export function recordInstance(db: Sqlite, owner: StoreOwner, now: number): void {
  db.perform(INSTANCE.put({ ...owner, processStart: processStartTime(owner.pid) ?? '', startedAt: now }));
}

export function forgetInstance(db: Sqlite, id: string): void {
  db.run('DELETE FROM instance WHERE id = ?', id);
}

/** The daemon that recorded itself last and did not take leave. The schema must exist. */
export function readInstance(db: Sqlite): Instance | null {
  return db.perform(INSTANCE.load())[0] ?? null;
}

/** Whether the recorded daemon still runs on this host. */
export function isAlive(instance: Instance, host: string): boolean {
  return instance.host === host && isSameProcess({ pid: instance.pid, startTime: instance.processStart });
}
