import type { Env } from '../../config/expand.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import type { Event } from '../../domain/model/event.ts';
import type { Notice, Notices } from '../../domain/model/notice.ts';
import { remedyFor } from '../../domain/model/remedies.ts';
import { assembled, type Releasers } from '../../lib/releasers.ts';
import { createNotices } from '../../orchestrator/notices.ts';
import { logNotices } from '../../orchestrator/notice-log.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Logger, SteadyClock } from '../../ports/runtime.ts';
import { startTelemetry } from '../../telemetry/index.ts';
import { buildAdapters, type BuiltAdapters } from '../adapters/build-adapters.ts';
import { proveTracker, startReporters, whileTold, type TellSilence } from '../adapters/check-tracker.ts';
import { forgetOldRuns } from './forget-runs.ts';
import type { KeptWorkflow } from './kept-workflow.ts';
import type { LeaderTerm } from '../leader/leading.ts';
import { openPages, type Pages } from './open-pages.ts';
import { openRuns, type Runs } from './open-runs.ts';
import { databaseName } from './own-store.ts';
import { followWorkflow } from './reload.ts';
import type { KnownSecrets } from '../secrets.ts';
import { serveHttp, type KeptPort, type Served } from '../pages/serve-http.ts';
import { serveWhenFree } from '../pages/serve-when-free.ts';
import { withStoredIdentity, settleIdentity, tellIfPublic } from './settle-identity.ts';
import type { WatchedTrackers } from './watched-trackers.ts';
import { tellIfEndless } from '../endless.ts';
import { tellWarnings, type GoodWorkflow } from '../workflow.ts';
import { errorText } from '../../lib/error-text.ts';

export interface DaemonOptions {
  readonly workflow: GoodWorkflow;
  readonly env: Env;
  readonly version: string;
  /** Wins over `server.port`; null leaves it to the file. */
  readonly port: number | null;
  readonly keptPort?: KeptPort;
  /** Where it is not the only one of this process that reads the file. */
  readonly kept?: KeptWorkflow;
  /** There is another file to start with, where the tracker of this one does not answer. */
  readonly mustAnswer?: boolean;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly secrets: KnownSecrets;
  /** Ends a start-up that is still under way. */
  readonly interrupted: AbortSignal;
  /** The turn to lead on a shared database; null where the database is a file. */
  readonly term: LeaderTerm | null;
}

export interface RunningDaemon {
  /** Drains: what runs is told to stop, then everything is closed. */
  stop(): void;
  /** Ends at once. */
  kill(): void;
  /** Settles when all is closed; rejects when the daemon failed. */
  readonly done: Promise<void>;
  /** Where the HTTP server listens, or null. */
  readonly url: string | null;
}

/** Config to adapters to orchestrator to server. Whatever was opened is closed again when start-up fails half way. */
export async function startDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  const onFault = (fault: unknown): void => options.logger.error('closing failed', { error: errorText(fault) });
  return assembled(onFault, (releasers) => assemble(options, releasers));
}

async function assemble(options: DaemonOptions, releasers: Releasers): Promise<RunningDaemon> {
  const { workflow, clock, logger, secrets, version, env } = options;
  sayHello(options);
  const killed = new AbortController();
  const notices = createNotices((fault) => logger.error('a listener failed', { error: errorText(fault) }));
  releasers.push(logNotices(notices, logger));
  releasers.push(await startTelemetry({ notices, env, version, logger }));
  const announce = (notice: Notice): void => notices.announce(secrets.maskDeep(notice));
  let served: Served | null = null;
  const servedAt = (): string | null => served?.url ?? null;
  const runs = await openRuns(options, { announce, killed: killed.signal, servedAt, releasers });
  const { store, trackers, processes } = runs;
  // Only the start is kept back by them: while an edit is tried, the last good file is in force.
  const { tellRetry, tellSilence } = startReporters(announce);
  const atStart = { ...runs.adapterDeps, tellRetry };
  const built = await withStoredIdentity(await buildAdapters(workflow, atStart, null), store);
  await runs.watch(built);
  const pages = openPages(options, runs, notices, releasers);
  releasers.push(followQuotas(notices, trackers));
  const days = (): number => trackers.adapters().workflow.settings.dbRetentionDays;
  releasers.push(forgetOldRuns({ store, now: clock.now, days, logger }));
  served = await servePages(options, pages, releasers);
  const startUp = AbortSignal.any([killed.signal, options.interrupted]);
  await begin({ options, runs, pages, served, notices, announce, tellSilence, releasers, startUp }, built);
  const done = trackers.done.finally(() => {
    killed.abort(new Error('the service has stopped'));
    processes.killAll();
    return releasers.run();
  });
  return {
    url: served.url,
    done,
    stop: trackers.stop,
    kill() {
      killed.abort(new Error('the service was told to stop at once'));
      processes.killAll();
      trackers.kill();
    },
  };
}

/** One that took over does not fail for want of a port that the one before may still have. */
async function servePages(options: DaemonOptions, { daemon }: Pages, releasers: Releasers): Promise<Served> {
  const { workflow, port, keptPort, term, logger } = options;
  const place = { server: workflow.settings.server, port, kept: keptPort };
  if (term === null) return serveHttp(daemon, place, releasers);
  return serveWhenFree((opened) => serveHttp(daemon, place, opened), {
    releasers,
    tell: (fault) => logger.warn('leading without pages', { error: errorText(fault) }),
    onServed: (url) => term.leadership.servesAt(url),
  });
}

interface Assembled {
  readonly options: DaemonOptions;
  readonly runs: Runs;
  readonly pages: Pages;
  readonly served: Served;
  readonly notices: NoticeBus;
  readonly announce: (notice: Notice) => void;
  readonly tellSilence: TellSilence;
  readonly releasers: Releasers;
  readonly startUp: AbortSignal;
}

/** Proves the tracker, then lets the loops run and follows the edits of the workflow file. */
async function begin(assembled: Assembled, built: BuiltAdapters): Promise<void> {
  const { options, runs, pages, served, notices, announce, tellSilence, releasers, startUp } = assembled;
  const { store, trackers, adapterDeps } = runs;
  const { logger } = options;
  const postponed = await proveTracker(built.tracker, tellSilence, {
    pollMs: built.workflow.settings.polling.intervalMs,
    mustAnswer: options.mustAnswer ?? false,
    signal: startUp,
  });
  if (postponed !== null) announce({ name: 'tracker:start:postponed', facts: postponed });
  const first =
    postponed === null ? await whileTold(built.tracker, tellSilence, () => settleIdentity(built, store, startUp)) : built;
  tellIfPublic(first, logger);
  if (first.workflow.problems !== built.workflow.problems || first.identity !== built.identity) await runs.watch(first);
  // A pause that waited for the start holds the first poll. What the tracker asked for holds, whatever people asked.
  await pages.operatorRequests.start((waited) =>
    trackers.start(
      ...waited.map((asked): Event => ({ type: 'operator-asked', asked })),
      ...(postponed === null ? [] : [postponedPolls(postponed)]),
    ),
  );
  const { env } = adapterDeps;
  const onGood = async (next: BuiltAdapters, read: LoadedWorkflow): Promise<void> => {
    await runs.watch(next);
    served.admit(next.workflow.settings.server);
    options.kept?.take(read);
    options.kept?.proved(options.kept.current());
  };
  releasers.push(followWorkflow({ env, logger, notices, announce, adapterDeps, store }, first, onGood));
}

function postponedPolls({ retryInMs, error, kind }: Notices['tracker:start:postponed']): Event {
  return { type: 'polls-postponed', byMs: retryInMs, error, remedy: remedyFor(kind, error) };
}

/** What remotes say is left of their budgets decides when the watched tracker is polled next. */
function followQuotas(notices: NoticeBus, trackers: WatchedTrackers): () => void {
  return notices.listen((notice) => {
    if (notice.name === 'tracker:quotas:read') trackers.active().report({ type: 'quotas-read', quotas: notice.facts.quotas });
  });
}

function sayHello({ workflow, version, logger }: DaemonOptions): void {
  const { settings, path } = workflow;
  logger.info('foray starting', { version, workflow_path: path });
  logger.info('database path resolved', { db_path: databaseName(settings) });
  tellWarnings(workflow, logger);
  tellIfEndless(workflow, logger);
  if (settings.tracker.activeStates.length === 0) logger.warn('tracker.active_states is empty: nothing is dispatched', {});
}
