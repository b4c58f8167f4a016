import { all, get, type Work } from '../records/work.ts';

/** All of PostgreSQL comes through here and is loaded only where `store.url` is set. */
export { openPostgres, type Postgres } from './connection.ts';
export { importAll, type ImportedTable } from './import.ts';
export { noteEnding, readEnding } from './ending.ts';
export { isNewer, isNotLeading, isUnreachable } from './errors.ts';
export { isWatchedBy, readLeader, type InstanceFacts, type Leader } from './instances.ts';
export type { Leadership } from './keep-leading.ts';
export { tryToLead } from './leadership.ts';
export { dropHints, leaveHint, readHints, type Hint } from './hints.ts';
export { isUpToDate, migratePostgres, missingSchema } from './migrate.ts';
export { askThroughPostgres } from './operator.ts';
export { createPostgresStore } from './postgres-store.ts';
export { readFleet, type Fleet } from './run-queue.ts';
export { openProcessRecords } from './processes.ts';

/** The tracker that was watched last. */
export function* readLastTracker(): Work<string> {
  return String((yield* all('SELECT identity FROM trackers ORDER BY rowid')).at(-1)?.identity ?? '');
}

interface ReadOnce {
  readonly workspaceKey: string;
  readonly runningRuns: readonly string[];
  /** Workers have runs that the leader before gave them. */
  readonly areGivenAway: boolean;
}

/** What a daemon that begins to lead reads once. */
export function* readOnceAtStart(): Work<ReadOnce> {
  const key = yield* get('SELECT key FROM workspace_key');
  const running = yield* all("SELECT run_id FROM claims WHERE phase = 'running'");
  const areGivenAway = (yield* all('SELECT 1 AS one FROM worker_runs LIMIT 1')).length > 0;
  return { workspaceKey: String(key?.key), runningRuns: running.map((row) => String(row.run_id)), areGivenAway };
}
