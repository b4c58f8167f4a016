import { createHash } from 'node:crypto';
import { endGroup, endStrays, type Marker } from '../../lib/process/index.ts';
import { groupSurvivors } from '../../lib/process-identity.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { ProcessRecords } from '../../store/records/processes.ts';
import type { Env } from '../../config/expand.ts';

/** Carried by every process of a daemon, so that the next one on the same database finds those that nobody wrote down. */
const DAEMON_VARIABLE = 'FORAY_DAEMON';

/** The same of one that leads on a database that several share: others of the same machine may lead before and after it. */
const LEADER_VARIABLE = 'FORAY_LEADER';

const LEFTOVER_GRACE_MS = 2_000;

/** The environment of what a daemon starts: its own, and whose it is. `leader`: who leads; null where nobody else could. */
export function markedEnv(env: Env, dbPath: string, leader: string | null): Env {
  return { ...env, [DAEMON_VARIABLE]: daemonId(dbPath), ...(leader === null ? {} : { [LEADER_VARIABLE]: leader }) };
}

/** What this leader alone has in the environment of its processes. */
export function leaderMark(leader: string): Marker {
  return `${LEADER_VARIABLE}=${leader}`;
}

export interface Leftovers {
  readonly processes: ProcessRecords;
  readonly dbPath: string;
  /** Runs that were under way, as the claims tell. */
  readonly runIds: readonly string[];
}

/**
 * Processes that a crash of the last daemon left running are ended before anything new starts. A recorded number alone
 * proves nothing: it may belong to a stranger by now, so the group must still be the one that was recorded. A crash
 * between a start and its record leaves no number at all: such a process is found by what it carries in its environment.
 */
export async function endLeftovers({ processes, dbPath, runIds }: Leftovers, logger: Logger): Promise<void> {
  const tell = (pid: number, owner?: string): void =>
    logger.warn('ending a process that an earlier run left behind', { pid, run_id: owner });
  for (const leftover of processes.leftovers()) {
    const { pid, owner } = leftover;
    if (groupSurvivors(leftover, `FORAY_RUN_ID=${owner}`).length === 0) continue;
    tell(pid, owner);
    await endGroup(pid, { graceMs: LEFTOVER_GRACE_MS });
  }
  const owners = [...runIds, ...processes.leftovers().map(({ owner }) => owner)];
  const markers = [`${DAEMON_VARIABLE}=${daemonId(dbPath)}`, ...owners.map((owner) => `FORAY_RUN_ID=${owner}`)] as const;
  await endStrays(markers as readonly Marker[], LEFTOVER_GRACE_MS, tell);
  processes.clear();
}

/** One daemon per database: a short name for both. */
export function daemonId(dbPath: string): string {
  return createHash('sha256').update(dbPath).digest('hex').slice(0, 16);
}
