import type { Context } from 'hono';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { StartFault } from '../../domain/views/start-fault.ts';
import type { Daemon } from '../../ports/daemon.ts';
import type { HostView } from '../../ports/runner.ts';
import { STATISTICS_BY, type StatisticsBy, type StatisticsRow } from '../../ports/store.ts';
import { fail, isoTime } from '../http/envelope.ts';
import { holdEntry, parkedEntry, tokenCounts, watchEntry } from './entries.ts';
import { noSnapshot, readSnapshot } from '../snapshot.ts';

export const getParked = fromSnapshot((snapshot) => ({ parked: snapshot.parked.map(parkedEntry) }));

/** Why each candidate of the last poll is not being worked on, and what keeps all of them back. */
export const getHolds = fromSnapshot((snapshot) => ({
  holds: snapshot.holds.map(holdEntry),
  preflight_problem: snapshot.preflightProblem,
  pause: snapshot.operatorPause && {
    reason: snapshot.operatorPause.reason,
    by: snapshot.operatorPause.by,
    since: isoTime(snapshot.operatorPause.since),
  },
  agent_pauses: snapshot.pauses.map((pause) => ({
    agent_kind: pause.agentKind,
    until: isoTime(pause.until),
    reason: pause.reason,
  })),
  last_poll: snapshot.poll.last && {
    at: isoTime(snapshot.poll.last.at),
    duration_ms: snapshot.poll.last.durationMs,
    candidates: snapshot.poll.last.candidates,
    error: snapshot.poll.last.error,
  },
  next_poll_at: snapshot.poll.nextAt === null ? null : isoTime(snapshot.poll.nextAt),
  tracker_problem: trackerProblem(snapshot.poll),
}));

/** Why the tracker could not be read when it was last asked, at start or by a poll. */
function trackerProblem({ startFault = null, last, nextAt }: Snapshot['poll']) {
  if (startFault !== null) return problemEntry(startFault);
  return last?.error == null ? null : problemEntry({ remedy: null, ...last, error: last.error, nextTryAt: nextAt });
}

type Problem = Omit<StartFault, 'nextTryAt'> & { readonly nextTryAt: number | null };

function problemEntry({ at, error, remedy, nextTryAt }: Problem) {
  return { at: isoTime(at), error, remedy, next_try_at: nextTryAt === null ? null : isoTime(nextTryAt) };
}

export const getMergeRequests = fromSnapshot((snapshot) => ({ merge_requests: snapshot.watches.map(watchEntry) }));

/** Who is told of what, and whether the messages arrive. The addresses are secrets. */
export const getNotifications = fromSnapshot((snapshot) => ({
  notifications: snapshot.notifications.map(({ target, format, on, waiting, failing }) => ({
    target,
    format,
    on,
    waiting,
    failing: failing && {
      since: isoTime(failing.since),
      error: failing.error,
      tries: failing.tries,
      next_try_at: isoTime(failing.nextTryAt),
    },
  })),
}));

/** The workflow file in force, and an edit of it that was not taken. */
export function getWorkflow(daemon: Daemon) {
  return (c: Context): Response => {
    const { path, appliedAt, warnings, rejected, problems } = daemon.workflow();
    return c.json({
      path,
      applied_at: isoTime(appliedAt),
      warnings,
      rejected: rejected && { at: isoTime(rejected.at), reason: rejected.reason },
      problems,
    });
  };
}

/** The hosts that runs are given to. */
export function getWorkers(daemon: Daemon) {
  return (c: Context): Response => c.json({ workers: daemon.hosts().map(workerEntry) });
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;

/** Runs added up by day, agent, tracker state or issue: the numbers of `foray stats`. */
export function getStatistics(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const by = c.req.query('by') ?? 'day';
    if (!isStatisticsBy(by)) return fail(c, 'bad_request', `by must be one of ${STATISTICS_BY.join(', ')}.`);
    const days = daysOf(c.req.query('days'));
    if (days === null) return fail(c, 'bad_request', 'days must be a whole number from 1 to 3650.');
    const since = daemon.clock.now() - days * DAY_MS;
    const rows = await daemon.history.statistics({ since, by });
    return c.json({ by, since: isoTime(since), rows: rows.map(statisticsEntry) });
  };
}

export function isStatisticsBy(text: string): text is StatisticsBy {
  return (STATISTICS_BY as readonly string[]).includes(text);
}

/** How many days back to look; null when it makes no sense. */
export function daysOf(text: string | undefined): number | null {
  if (text === undefined) return DEFAULT_DAYS;
  return /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 3650 ? Number(text) : null;
}

function workerEntry({ name, kind, labels, slots, running, load, version, heardAt, problem }: HostView) {
  return {
    name,
    kind,
    labels,
    slots,
    running,
    load,
    version,
    last_heartbeat: heardAt === null ? null : isoTime(heardAt),
    problem,
  };
}

function statisticsEntry(row: StatisticsRow) {
  return {
    key: row.key,
    runs: row.runs,
    outcomes: row.outcomes,
    seconds: row.seconds,
    longest_seconds: row.longestSeconds,
    tokens: tokenCounts(row.tokens),
    cost_usd: row.costUsd,
    unpriced_runs: row.unpricedRuns,
  };
}

/** A route whose whole answer is a view of the snapshot. */
function fromSnapshot(view: (snapshot: Snapshot) => object) {
  return (daemon: Daemon) =>
    (c: Context): Response => {
      const snapshot = readSnapshot(daemon);
      return snapshot === null ? noSnapshot(c) : c.json(view(snapshot));
    };
}
