import { randomBytes } from 'node:crypto';
import type { Claim } from '../../domain/model/claim.ts';
import type { Event } from '../../domain/model/event.ts';
import type { Notice } from '../../domain/model/notice.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import { createControlGroups } from '../../lib/process/index.ts';
import type { Releasers } from '../../lib/releasers.ts';
import type { HostView } from '../../ports/runner.ts';
import { createSshHosts } from '../../runners/ssh/hosts.ts';
import type { AdapterDeps } from '../adapters/adapter-deps.ts';
import type { BuiltAdapters } from '../adapters/build-adapters.ts';
import { silenceIn } from '../adapters/check-tracker.ts';
import type { DaemonOptions } from './daemon.ts';
import { createFleetRuns } from '../leader/fleet-runs.ts';
import { daemonId, markedEnv } from '../processes/leftovers.ts';
import { ownProcesses, type OwnedProcesses } from '../processes/owned-processes.ts';
import { putUpSignpost } from './signpost.ts';
import { databaseName, openOwnStore, type OwnStore } from './own-store.ts';
import { trackProcessGroups } from '../processes/process-groups.ts';
import { createRequestMeter } from '../adapters/request-meter.ts';
import { createRootLocks } from './root-locks.ts';
import { openRunTools } from '../adapters/run-tools.ts';
import { createShownIssues, withShownIssue } from './shown-issues.ts';
import { createWatchedTrackers, type WatchedTrackers } from './watched-trackers.ts';
import { errorText } from '../../lib/error-text.ts';

/** What runs need, whatever tracker they are of. */
export interface Runs {
  readonly store: OwnStore;
  readonly trackers: WatchedTrackers;
  readonly processes: OwnedProcesses;
  readonly adapterDeps: AdapterDeps;
  /** Other machines that runs live on. */
  hosts(): readonly HostView[];
  /** Takes the workspace root and goes on with the tracker of these adapters. */
  watch(next: BuiltAdapters): Promise<void>;
}

export interface RunsContext {
  readonly announce: (notice: Notice) => void;
  readonly killed: AbortSignal;
  /** Where the pages are, once they are. */
  readonly servedAt: () => string | null;
  readonly releasers: Releasers;
}

/** Opens the store, the loops, the tools of agents and everything that starts processes. */
export async function openRuns(options: DaemonOptions, context: RunsContext): Promise<Runs> {
  const { workflow, clock, logger, secrets, version, term } = options;
  const { announce, killed, servedAt, releasers } = context;
  const database = databaseName(workflow.settings);
  const instance = term?.me.id ?? randomBytes(5).toString('hex');
  const store = await openOwnStore(options, instance, releasers);
  releasers.push(putUpSignpost(workflow.path, workflow.settings, options.env));
  const leading = term?.leadership ?? null;
  const hosts = createSshHosts(clock);
  const markKey = store.workspaceKey;
  const onJoined = (): void => trackers.loops().forEach((loop) => loop.report({ type: 'refresh-requested', byPerson: false }));
  const fleet = createFleetRuns({ term, version, clock, logger, markKey, killed, onJoined });
  releasers.push(fleet.close);
  const screen = createScreen(options, (runId) => void processes.ownerDone(runId));
  const onStoreFault = (fault: unknown, tries: number): void =>
    logger.error('the database did not take a write, trying again', { error: errorText(fault), tries });
  const trackers = createWatchedTrackers({
    store,
    clock,
    instance,
    announce,
    screen,
    showIssues: createShownIssues(secrets),
    onStoreFault,
    killed,
    hosts,
    leading,
    queue: fleet.runner,
    resumeDelayMs: store.resumeDelayMs,
  });
  const opened = { store, database, instance, trackers, releasers };
  const tools = await openTools(options, opened, (runId) => processes.pidsOf(runId));
  const processes = await openProcesses(options, opened);
  const roots = createRootLocks({
    workflowPath: workflow.path,
    database,
    sharedRecords: term && daemonId(markKey),
    rootKey: 'workspace.root',
  });
  releasers.push(roots.release);
  const env = markedEnv(options.env, database, term?.me.id ?? null);
  const meter = createRequestMeter(announce);
  const places = { hosts, workers: fleet.runner, removeOnWorker: fleet.remove };
  const told = { servedAt, markKey, version, env, clock, logger, secrets, tellSilence: silenceIn(announce) };
  return {
    store,
    trackers,
    processes,
    adapterDeps: { ...told, ...places, processes, meter, tools, leading, costRecorded: costIn(store) },
    hosts: () => [...hosts.views(trackers.adapters().workflow.settings.worker), ...(fleet.runner()?.hosts() ?? [])],
    async watch(next) {
      await roots.take(next.workflow.settings.workspace.root);
      await fleet.open(next.workflow.settings);
      await trackers.watch(next);
      leading?.watches(next.workflow.names.configured);
    },
  };
}

/** More runs than these are not of one conversation. */
const MOST_RUNS = 100;

/** Adds up what the runs of one conversation cost. */
function costIn(store: Pick<OwnStore, 'listRuns'>): NonNullable<AdapterDeps['costRecorded']> {
  return async (identifier, sessionId) => {
    const runs = (await store.listRuns({ identifier, limit: MOST_RUNS })).filter((run) => run.sessionId === sessionId);
    return runs.length === 0 ? null : runs.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  };
}

/** What tools and processes are opened upon. */
interface Opened extends Pick<RunsContext, 'releasers'> {
  readonly store: OwnStore;
  readonly database: string;
  /** This daemon, for as long as it leads. */
  readonly instance: string;
  readonly trackers: WatchedTrackers;
}

/** The tools that agents call, which know the run that a call comes from by its process. */
async function openTools(
  { logger, secrets }: DaemonOptions,
  { store, database, trackers, releasers }: Opened,
  pidsOf: OwnedProcesses['pidsOf'],
): Promise<AdapterDeps['tools']> {
  const tools = await openRunTools({
    logger,
    scope: database,
    store,
    state: (tracker) => trackers.states().find(({ settings }) => settings.tracker.identity === tracker),
    mask: secrets.mask,
    report: trackers.report,
    pidsOf,
  });
  releasers.push(() => tools.stop());
  return tools;
}

/**
 * Everything that agents and hooks start belongs to a run, and ends with it. What earlier daemons left is ended before; at
 * its own end each ends what is its own, for another one may lead by then.
 */
async function openProcesses({ logger, term }: DaemonOptions, context: Opened): Promise<OwnedProcesses> {
  const { store, database, instance, trackers, releasers } = context;
  const controlGroups = createControlGroups({ prefix: `foray-${daemonId(database)}`, maker: instance });
  await term?.leadership.confirm();
  await controlGroups.endOthers();
  releasers.push(() => controlGroups.endAll());
  const groups = trackProcessGroups(store.processes, (fault) =>
    logger.error('a process could not be written down, trying again', { error: errorText(fault) }),
  );
  releasers.push(() => groups.stop());
  const isRun = (owner: string): boolean => trackers.states().some(({ claims }) => runningIn(claims.values()).includes(owner));
  return ownProcesses(groups, controlGroups, isRun);
}

/** Events that carry what an agent or a process said. */
const MASKED: ReadonlySet<Event['type']> = new Set(['agent-spoke', 'run-exited', 'turn-started']);

/** Looks at events on their way to a loop: secrets are hidden, and what a run has left behind is ended with it. */
function createScreen({ secrets }: DaemonOptions, onRunExited: (runId: string) => void): (event: Event) => Event {
  return (event) => {
    crashPoint(`answered by ${event.type}`);
    if (event.type === 'run-exited') onRunExited(event.runId);
    return MASKED.has(event.type) ? secrets.maskDeep(event) : withShownIssue(event, secrets);
  };
}

function runningIn(claims: Iterable<Claim>): readonly string[] {
  return [...claims].flatMap((claim) => (claim.phase === 'running' ? [claim.runId] : []));
}
