import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { LEADER_BEAT_MS, SESSIONS_OVER_MS } from '../../domain/model/lease-times.ts';
import { machineId } from '../../lib/machine.ts';
import { processStartTime } from '../../lib/process-identity.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { InstanceFacts, Leader, Leadership, Postgres } from '../../store/postgres/index.ts';
import { errorText } from '../../lib/error-text.ts';

/** A daemon's turn to lead on a shared database. */
export interface LeaderTerm {
  readonly db: Postgres;
  readonly me: InstanceFacts;
  readonly leadership: Leadership;
  /** How long runs of the leader before must wait: until its sessions are surely over. */
  readonly resumeDelayMs: number;
}

export interface WouldBeLeader {
  readonly db: Postgres;
  readonly me: InstanceFacts;
  /** It looks on for so long before it tries. */
  readonly restMs?: number;
}

/** Brings the tables up to date, waiting for a server that does not answer yet. Other faults are the operator's to mend. */
export async function prepareShared(db: Postgres, logger: Logger, signal: AbortSignal): Promise<void> {
  const { migratePostgres, isUnreachable } = await import('../../store/postgres/index.ts');
  for (let tries = 0; ; tries += 1) {
    try {
      return await migratePostgres(db, Date.now());
    } catch (error) {
      if (!isUnreachable(error) || signal.aborted) throw error;
      if (tries % 10 === 0) logger.warn('waiting for the database', { error: errorText(error) });
      await delay(1_000, undefined, { signal });
    }
  }
}

/** This process, as the others on the database see it. */
export function instanceFacts(id: string, workflowPath: string, version: string): InstanceFacts {
  const processStart = processStartTime(process.pid) ?? '';
  return { id, host: os.hostname(), machine: machineId(), pid: process.pid, processStart, workflowPath, version, url: null };
}

/** Waits for the turn to lead. `onLook` hears who leads meanwhile. */
export async function waitToLead(
  { db, me, restMs = 0 }: WouldBeLeader,
  onLook: (leader: Leader | null) => Promise<InstanceFacts>,
  logger: Logger,
  signal: AbortSignal,
): Promise<LeaderTerm> {
  const restsUntil = performance.now() + restMs;
  const { isNewer, isUnreachable, readLeader, tryToLead } = await import('../../store/postgres/index.ts');
  let seen = me;
  let told: string | null = null;
  let isRefused = false;
  /** Who cannot lead still serves its pages. */
  const refuse = (error: unknown): null => {
    if (!isNewer(error)) throw error;
    if (!isRefused) logger.error('not leading, the database is of a newer version', { error: errorText(error) });
    isRefused = true;
    return null;
  };
  let reachedFrom: number | null = -Infinity;
  for (;;) {
    signal.throwIfAborted();
    try {
      const before = await db.read(readLeader());
      reachedFrom ??= performance.now();
      const reachedForMs = performance.now() - reachedFrom;
      const leadership = performance.now() < restsUntil ? null : await tryToLead(db, seen, reachedForMs).catch(refuse);
      if (leadership !== null) return { db, me: seen, leadership, resumeDelayMs: resumeDelayOf(before, seen) };
      seen = await onLook(before);
      told = null;
    } catch (error) {
      if (errorText(error) !== told) logger.warn('the database does not answer, trying again', { error: errorText(error) });
      told = errorText(error);
      if (isUnreachable(error)) reachedFrom = null;
    }
    await delay(LEADER_BEAT_MS, undefined, { signal });
  }
}

/**
 * Sessions of a leader that took leave are over, and so are those on this very machine, which are ended before anything new
 * starts. Those of one that fell silent elsewhere may go on until it notices that it is cut off.
 */
function resumeDelayOf(before: Leader | null, me: InstanceFacts): number {
  if (before === null || before.left || before.machine === me.machine) return 0;
  return Math.max(0, SESSIONS_OVER_MS - before.silentMs);
}
