import os from 'node:os';
import type { Releasers } from '../../lib/releasers.ts';
import { LEADER_STOPPED_MS, WORKER_LOST_MS } from '../../domain/model/lease-times.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { ProcessLedger } from '../../ports/agent.ts';
import type { Store } from '../../ports/store.ts';
import type { ProcessRecords } from '../../store/records/processes.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { addressOf } from '../../store/postgres/address.ts';
import type { DaemonOptions } from './daemon.ts';
import type { LeaderTerm } from '../leader/leading.ts';
import { startGroupGuard } from '../processes/group-guard.ts';
import { endLeftovers, leaderMark } from '../processes/leftovers.ts';

/** What a daemon that leads works with. */
export interface OwnStore extends Store {
  readonly processes: ProcessRecords;
  /** What marks of workspaces are signed with. */
  readonly workspaceKey: string;
  /** How long runs that were under way must wait before they start again: those of a lost leader may still go on elsewhere. */
  readonly resumeDelayMs: number;
  /** Until when those may that an earlier change of leader cut short, by issue id. */
  endingElsewhere(tracker: string): Promise<ReadonlyMap<string, number>>;
}

/** Names the database apart from others; no password in it. */
export function databaseName({ dbPath, storeUrl }: Pick<Settings, 'dbPath' | 'storeUrl'>): string {
  if (storeUrl === null) return dbPath;
  return addressOf(storeUrl);
}

/** The database, ours alone from here on, with what an earlier daemon left running ended. */
export async function openOwnStore(options: DaemonOptions, instance: string, releasers: Releasers): Promise<OwnStore> {
  return options.term === null ? openFile(options, instance, releasers) : openShared(options, options.term, releasers);
}

async function openFile({ workflow, clock, logger }: DaemonOptions, instance: string, releasers: Releasers): Promise<OwnStore> {
  const owner = { id: instance, pid: process.pid, host: os.hostname(), workflowPath: workflow.path };
  const onBusy = (error: string): void => logger.warn('waiting for the database', { error });
  const store = await openStore({ path: workflow.settings.dbPath, owner, clock, onBusy });
  releasers.push(() => store.close());
  const { dbPath } = workflow.settings;
  await endLeftovers({ processes: store.processes, dbPath, runIds: store.runningRuns() }, logger);
  return { ...store, workspaceKey: store.workspaceKey(), resumeDelayMs: 0, endingElsewhere: async () => new Map() };
}

/**
 * On a database that several daemons share, while this one leads. Workers that have runs of the leader before let go of
 * them when they hear of it, or when they have heard nothing for long enough: only then may these start again.
 */
async function openShared({ workflow, clock, logger }: DaemonOptions, term: LeaderTerm, releasers: Releasers): Promise<OwnStore> {
  const { createPostgresStore, openProcessRecords, noteEnding, readEnding, readOnceAtStart, isNotLeading } =
    await import('../../store/postgres/index.ts');
  const { db, leadership, me } = term;
  const store = createPostgresStore(db, { owner: me.id, clock, epoch: leadership.epoch });
  const records = await openProcessRecords(db, { machine: me.machine, instance: me.id });
  releasers.push(() => records.stop());
  const guard = startGroupGuard(LEADER_STOPPED_MS / 1_000, leaderMark(me.id));
  releasers.push(() => guard.stop());
  const processes = { ...records, ...combineLedgers(guard, records) };
  const { workspaceKey, runningRuns, areGivenAway } = await db.read(readOnceAtStart());
  const resumeDelayMs = Math.max(term.resumeDelayMs, areGivenAway ? WORKER_LOST_MS : 0);
  // Before anything that takes time: the next leader must know of it, should this one end here.
  if (resumeDelayMs > 0) await db.writeUnder(leadership.epoch, noteEnding(clock.now()));
  // One that slept while it began would end the processes of the one that leads by now.
  await leadership.confirm();
  await endLeftovers({ processes, dbPath: databaseName(workflow.settings), runIds: runningRuns }, logger);
  return {
    ...store,
    processes,
    workspaceKey,
    resumeDelayMs,
    endingElsewhere: (tracker) => db.read(readEnding(tracker, clock.now())),
    async apply(tracker, writes) {
      try {
        await store.apply(tracker, writes);
      } catch (error) {
        if (isNotLeading(error)) leadership.overtaken();
        throw error;
      }
    },
    // The connections stay open for what comes after this daemon: standing by.
    close: async () => {},
  };
}

export function combineLedgers(first: ProcessLedger, second: ProcessLedger): ProcessLedger {
  return {
    started(pid, owner) {
      first.started(pid, owner);
      second.started(pid, owner);
    },
    ended(pid) {
      first.ended(pid);
      second.ended(pid);
    },
  };
}
