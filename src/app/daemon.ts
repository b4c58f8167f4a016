import type { Env } from '../config/expand.ts';
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { Claim } from '../domain/model/claim.ts';
import type { Event } from '../domain/model/event.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { AskedRequest } from '../domain/model/operator.ts';
import { snapshotOfAll, type Snapshot } from '../domain/snapshot.ts';
import { crashPoint } from '../lib/crash-point.ts';
import { createControlGroups } from '../lib/process/index.ts';
import { createReleasers, type Releasers } from '../lib/releasers.ts';
import type { Loop } from '../orchestrator/loop.ts';
import { createNotices } from '../orchestrator/notices.ts';
import { logNotices } from '../orchestrator/records.ts';
import type { Daemon } from '../ports/daemon.ts';
import type { NoticeBus } from '../ports/events.ts';
import type { HostView } from '../ports/runner.ts';
import type { Clock, Logger, SteadyClock } from '../ports/runtime.ts';
import { createMetrics } from '../server/metrics.ts';
import type { Store } from '../ports/store.ts';
import { createSshHosts } from '../runners/ssh/hosts.ts';
import { startTelemetry } from '../telemetry/index.ts';
import { forgetOldRuns } from './forget-runs.ts';
import { proveTracker } from './check-tracker.ts';
import { buildAdapters, knownAs, settleIdentity, tellIfPublic, type BuiltAdapters } from './build-adapters.ts';
import type { AdapterDeps } from './adapter-deps.ts';
import type { Reign } from './leading.ts';
import { createFleetRuns } from './fleet-runs.ts';
import { daemonId, markedEnv } from './leftovers.ts';
import { databaseName, openOwnStore } from './own-store.ts';
import { openOperatorDesk } from './operator-desk.ts';
import { keepChronicle } from './chronicle.ts';
import { findLiveRun } from './live-runs.ts';
import { ownProcesses } from './owned-processes.ts';
import { trackProcessGroups } from './process-groups.ts';
import { followWorkflow } from './reload.ts';
import { followWorkflowStatus } from './workflow-status.ts';
import { createRequestMeter } from './request-meter.ts';
import { createRootLocks } from './root-locks.ts';
import { openRunTools } from './run-tools.ts';
import type { KnownSecrets } from './secrets.ts';
import { serveHttp } from './serve-http.ts';
import { createWatchedTrackers, type WatchedTrackers } from './watched-trackers.ts';
import { tellWarnings, type GoodWorkflow } from './workflow.ts';

export interface DaemonOptions {
  readonly workflow: GoodWorkflow;
  readonly env: Env;
  readonly version: string;
  /** Wins over `server.port`; null leaves it to the file. */
  readonly port: number | null;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly secrets: KnownSecrets;
  /** Ends a start-up that is still under way. */
  readonly interrupted: AbortSignal;
  /** The turn to lead on a shared database; null where the database is a file. */
  readonly reign: Reign | null;
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
  const releasers = createReleasers((fault) => options.logger.error('closing failed', { error: textOf(fault) }));
  try {
    return await assemble(options, releasers);
  } catch (error) {
    await releasers.run();
    throw error;
  }
}

async function assemble(options: DaemonOptions, releasers: Releasers): Promise<RunningDaemon> {
  const { workflow, clock, logger, secrets, version } = options;
  const database = databaseName(workflow.settings);
  const env = markedEnv(options.env, database);
  sayHello(options);
  const killed = new AbortController();
  const notices = createNotices((fault) => logger.error('a listener failed', { error: textOf(fault) }));
  releasers.push(logNotices(notices, logger));
  const snapshot = (): Snapshot => snapshotOfAll(trackers.states(), clock.now());
  const hosts = createSshHosts(clock);
  const hostViews = (): readonly HostView[] => [
    ...hosts.views(trackers.adapters().workflow.settings.worker),
    ...(fleet.runner()?.hosts() ?? []),
  ];
  const metrics = createMetrics(notices, snapshot, hostViews);
  releasers.push(() => metrics.stop());
  releasers.push(await startTelemetry({ notices, env: options.env, version, logger }));
  const announce = (notice: Notice): void => notices.announce(secrets.maskDeep(notice));
  const instance = options.reign?.me.id ?? randomBytes(5).toString('hex');
  const store = await openOwnStore(options, instance, releasers);

  const screen = (event: Event): Event => {
    crashPoint(`answered by ${event.type}`);
    if (event.type === 'run-exited') void processes.ownerDone(event.runId);
    return MASKED.has(event.type) ? secrets.maskDeep(event) : event;
  };
  const onStoreFault = (fault: unknown, tries: number): void =>
    logger.error('the database did not take a write, trying again', { error: textOf(fault), tries });
  const { reign } = options;
  const markKey = store.workspaceKey;
  const fleet = createFleetRuns({ reign, version, clock, logger, markKey, killed: killed.signal });
  releasers.push(fleet.close);
  const trackers = createWatchedTrackers({
    queue: fleet.runner,
    store,
    clock,
    instance,
    announce,
    screen,
    onStoreFault,
    killed: killed.signal,
    hosts,
    resumeDelayMs: store.resumeDelayMs,
    leading: options.reign?.leadership ?? null,
  });
  const tools = await openRunTools({
    logger,
    scope: database,
    store,
    state: (tracker) => trackers.states().find(({ settings }) => settings.tracker.identity === tracker),
    report: trackers.report,
    pidsOf: (runId) => processes.pidsOf(runId),
  });
  releasers.push(() => tools.stop());
  const controlGroups = createControlGroups(`foray-${daemonId(database)}`);
  await controlGroups.endAll();
  releasers.push(() => controlGroups.endAll());
  const groups = trackProcessGroups(store.processes, (fault) =>
    logger.error('a process could not be written down, trying again', { error: textOf(fault) }),
  );
  releasers.push(() => groups.stop());
  const isRun = (owner: string): boolean => trackers.states().some(({ claims }) => runningIn(claims.values()).includes(owner));
  const processes = ownProcesses(groups, controlGroups, isRun);
  const roots = createRootLocks({ workflowPath: workflow.path, database, isShared: options.reign !== null });
  releasers.push(roots.release);
  const watch = async (next: BuiltAdapters): Promise<void> => {
    await roots.take(next.workflow.settings.workspace.root);
    await fleet.open(next.workflow.settings);
    await trackers.watch(next);
  };
  let url: string | null = null;
  const servedAt = (): string | null => url;
  const meter = createRequestMeter(announce);
  const leading = options.reign?.leadership ?? null;
  const adapterDeps: AdapterDeps = {
    servedAt,
    markKey,
    version,
    env,
    clock,
    logger,
    secrets,
    processes,
    meter,
    tools,
    hosts,
    workers: fleet.runner,
    leading,
  };
  const startUp = AbortSignal.any([killed.signal, options.interrupted]);
  const built = await knownAs(buildAdapters(workflow, adapterDeps, null), store);
  await watch(built);
  releasers.push(followQuotas(notices, trackers));
  const workflowStatus = followWorkflowStatus(() => trackers.adapters().workflow, notices, clock);
  releasers.push(() => workflowStatus.stop());

  const desk = openOperatorDesk({
    store,
    notices,
    logger,
    report: (asked) => loopFor(trackers, asked).report({ type: 'operator-asked', asked }),
  });
  releasers.push(() => desk.stop());
  const chronicle = keepChronicle({ store, notices, clock, logger });
  releasers.push(() => chronicle.stop());
  const daemon: Daemon = {
    version,
    clock,
    logger,
    notices,
    history: { ...store, findRun: findLiveRun(store, trackers.states) },
    chronicle,
    ask: desk.ask,
    place: { host: os.hostname(), project: workflow.settings.tracker.project },
    workflow: workflowStatus.status,
    hosts: hostViews,
    ...(options.reign !== null && { leader: leaderView(options.reign, clock) }),
    ...viewOf(trackers, snapshot, store, clock),
  };
  releasers.push(
    forgetOldRuns({ store, now: clock.now, days: () => trackers.adapters().workflow.settings.dbRetentionDays, logger }),
  );
  url = await serveHttp(daemon, metrics, { server: workflow.settings.server, port: options.port }, releasers);
  const postponed = await proveTracker(built.tracker, logger, startUp);
  if (postponed !== null) announce({ name: 'tracker:start:postponed', facts: postponed });
  const first = await settleIdentity(built, store, startUp);
  tellIfPublic(first, logger);
  if (first.workflow.problems !== built.workflow.problems || first.identity !== built.identity) await watch(first);
  releasers.push(followWorkflow({ env, logger, notices, announce, adapterDeps, store }, first, watch));
  trackers.start(...(postponed === null ? [] : [{ type: 'polls-postponed', byMs: postponed.retryInMs } as const]));
  desk.start();
  const done = trackers.done.finally(() => {
    killed.abort(new Error('the service has stopped'));
    processes.killAll();
    return releasers.run();
  });
  return {
    url,
    done,
    stop: trackers.stop,
    kill() {
      killed.abort(new Error('the service was told to stop at once'));
      processes.killAll();
      trackers.kill();
    },
  };
}

/** What remotes say is left of their budgets decides when the watched tracker is polled next. */
function followQuotas(notices: NoticeBus, trackers: WatchedTrackers): () => void {
  return notices.listen((notice) => {
    if (notice.name === 'tracker:quotas:read') trackers.active().report({ type: 'quotas-read', quotas: notice.facts.quotas });
  });
}

/** Events that carry what an agent or a process said. */
const MASKED: ReadonlySet<Event['type']> = new Set(['agent-spoke', 'run-exited', 'turn-started']);

function sayHello({ workflow, version, logger }: DaemonOptions): void {
  const { settings, path } = workflow;
  logger.info('foray starting', { version, workflow_path: path });
  logger.info('database path resolved', { db_path: databaseName(settings) });
  tellWarnings(workflow, logger);
  if (settings.tracker.activeStates.length === 0) logger.warn('tracker.active_states is empty: nothing is dispatched', {});
}

/** A request about an issue that still runs for a tracker watched before is for that one; any other for the watched one. */
function loopFor(trackers: WatchedTrackers, { request }: AskedRequest): Loop {
  const wanted = 'identifier' in request ? request.identifier.toLowerCase() : null;
  const runs = trackers
    .loops()
    .find((loop) => [...loop.state().live.values()].some(({ issue }) => issue.identifier.toLowerCase() === wanted));
  return runs ?? trackers.active();
}

function runningIn(claims: Iterable<Claim>): readonly string[] {
  return [...claims].flatMap((claim) => (claim.phase === 'running' ? [claim.runId] : []));
}

/** This daemon leads, since now. */
function leaderView({ me, leadership }: Reign, clock: Clock): NonNullable<Daemon['leader']> {
  const since = clock.now();
  return () => ({
    role: 'leader',
    leader: { host: me.host, pid: me.pid, url: null, since, epoch: leadership.epoch },
  });
}

/** What the HTTP side sees of the loop. */
function viewOf(
  trackers: WatchedTrackers,
  snapshot: () => Snapshot,
  store: Pick<Store, 'ping'>,
  clock: Clock,
): Pick<Daemon, 'snapshot' | 'revision' | 'requestRefresh' | 'hint' | 'watchedKinds' | 'isDraining' | 'checkReadiness'> {
  const { active } = trackers;
  return {
    revision: trackers.states,
    hint: () => active().report({ type: 'webhook-received' }),
    watchedKinds: () => kindsOf(active().state().settings),
    snapshot,
    requestRefresh: createRefresh(active, clock),
    isDraining: () => active().state().lifecycle === 'draining',
    checkReadiness: async () => ({
      database: await succeeds(store.ping()),
      preflight: (await trackers.findPreflightProblem().catch(textOf)) === null,
      workflow: true,
    }),
  };
}

function kindsOf({ tracker, reactions }: Settings): readonly string[] {
  return [tracker.kind, ...(reactions.connection === null ? [] : [reactions.connection.kind])];
}

/** A request is pending until a poll began after it; what comes meanwhile is merged with it. */
function createRefresh(active: () => Loop, clock: Clock): Daemon['requestRefresh'] {
  let requestedAt = 0;
  return () => {
    const { lifecycle, poll } = active().state();
    if (lifecycle === 'draining') return { queued: false, coalesced: false };
    const coalesced = poll.begunAt < requestedAt;
    if (!coalesced) requestedAt = clock.now();
    active().report({ type: 'refresh-requested' });
    return { queued: true, coalesced };
  };
}

async function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
