import os from 'node:os';
import { hasRecordOf, isRunning } from '../../domain/events/on-operator.ts';
import type { AskedRequest } from '../../domain/model/operator.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { snapshotOfAll, type Snapshot } from '../../domain/views/snapshot.ts';
import type { Releasers } from '../../lib/releasers.ts';
import type { Loop } from '../../orchestrator/loop.ts';
import type { Daemon, WatchedKind } from '../../ports/daemon.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import { PROVIDER_FACTS } from '../../providers/facts.ts';
import { keepChronicle } from '../pages/chronicle.ts';
import type { DaemonOptions } from './daemon.ts';
import type { LeaderTerm } from '../leader/leading.ts';
import { findLiveRun } from '../pages/live-runs.ts';
import { followMissingStates } from './missing-states.ts';
import type { Runs } from './open-runs.ts';
import { openOperatorRequests, type OperatorRequests } from './operator-requests.ts';
import { createDatabaseCheck, withinProbe } from '../pages/readiness.ts';
import { followHints } from '../leader/shared-hints.ts';
import { followStart } from '../pages/start-fault.ts';
import type { WatchedTrackers } from './watched-trackers.ts';
import { followWorkflowStatus } from '../pages/workflow-status.ts';
import { errorText } from '../../lib/error-text.ts';

/** What the HTTP side sees and may ask. */
export interface Pages {
  readonly daemon: Daemon;
  readonly operatorRequests: OperatorRequests;
}

export function openPages(options: DaemonOptions, runs: Runs, notices: NoticeBus, releasers: Releasers): Pages {
  const { workflow, clock, logger, version, term, secrets } = options;
  const { store, trackers } = runs;
  const start = followStart(notices, clock);
  releasers.push(start.stop);
  const snapshot = keptShortly(trackers.states, (states) =>
    snapshotOfAll(states, clock.now(), {
      closed: trackers.closed(),
      storeProblem: storeFaultOf(trackers),
      startFault: start.fault(),
    }),
  );
  const missing = followMissingStates({ watched: trackers.adapters, notices, provider: runs.adapterDeps });
  releasers.push(() => missing.stop());
  const ofFile = () => trackers.adapters().workflow;
  const workflowStatus = followWorkflowStatus({ workflow: ofFile, foundLater: missing.warnings, notices, clock });
  releasers.push(() => workflowStatus.stop());
  const operatorRequests = openOperatorRequests({
    store,
    notices,
    logger,
    mask: secrets.mask,
    report: (asked) => loopFor(trackers, asked).report({ type: 'operator-asked', asked }),
    trackers: () => trackers.states().map(({ settings }) => settings.tracker.identity),
  });
  releasers.push(() => operatorRequests.stop());
  if (term !== null) {
    const hints = followHints(term, { report: (event) => trackers.active().report(event), notes: store, logger });
    releasers.push(() => hints.stop());
  }
  const chronicle = keepChronicle({ store, notices, clock, logger });
  releasers.push(() => chronicle.stop());
  const daemon: Daemon = {
    version,
    clock,
    logger,
    notices,
    history: { ...store, findRun: findLiveRun(store, trackers.states) },
    chronicle,
    notes: store,
    ask: operatorRequests.ask,
    mask: secrets.mask,
    place: { host: os.hostname(), project: workflow.settings.tracker.project },
    workflow: workflowStatus.status,
    hosts: runs.hosts,
    ...(term !== null && { leader: leaderView(term, runs.adapterDeps.servedAt) }),
    ...viewOf(trackers, snapshot, store, clock),
  };
  return { daemon, operatorRequests };
}

/**
 * A request about an issue is for the tracker it was asked of. Where that one has nothing of such an issue, it is for one
 * watched before that still runs it: a session that people see can be stopped.
 */
function loopFor(trackers: WatchedTrackers, { request, tracker }: AskedRequest): Loop {
  if (!('identifier' in request)) return trackers.active();
  const named = trackers.loops().find((loop) => loop.state().settings.tracker.identity === tracker) ?? trackers.active();
  if (hasRecordOf(named.state(), request.identifier)) return named;
  return trackers.loops().find((loop) => isRunning(loop.state(), request.identifier)) ?? named;
}

/** This daemon leads. */
function leaderView({ me, leadership }: LeaderTerm, servedAt: () => string | null): NonNullable<Daemon['leader']> {
  const { since, epoch } = leadership;
  return () => ({
    role: 'leader',
    leader: { host: me.host, pid: me.pid, url: servedAt(), since, epoch },
  });
}

/** Only durations in it grow while the state is the same. */
const SNAPSHOT_KEPT_MS = 100;

/** Made once for all who ask at the same moment: a thousand running entries take a millisecond to put together. */
function keptShortly<S, T>(read: () => S, make: (state: S) => T): () => T {
  let kept: { readonly state: S; readonly made: T; readonly at: number } | null = null;
  return () => {
    const [state, now] = [read(), performance.now()];
    if (kept === null || kept.state !== state || now - kept.at >= SNAPSHOT_KEPT_MS) kept = { state, made: make(state), at: now };
    return kept.made;
  };
}

/** What the HTTP side sees of the loop. */
function viewOf(
  trackers: WatchedTrackers,
  snapshot: () => Snapshot,
  store: Pick<Store, 'ping'>,
  clock: Clock,
): Pick<
  Daemon,
  'snapshot' | 'revision' | 'requestRefresh' | 'hint' | 'watchedKinds' | 'trackerOf' | 'isDraining' | 'checkReadiness'
> {
  const { active } = trackers;
  const answers = createDatabaseCheck(() => store.ping());
  return {
    revision: trackers.states,
    hint: () => active().report({ type: 'webhook-received' }),
    watchedKinds: () => kindsOf(active().state().settings),
    trackerOf: (identifier) => {
      const states = trackers.states();
      const known = states.find((state) => hasRecordOf(state, identifier)) ?? states[0];
      return known?.settings.tracker.identity ?? '';
    },
    snapshot,
    requestRefresh: createRefresh(active, clock),
    isDraining: () => active().state().lifecycle === 'draining',
    async checkReadiness() {
      const known = active().state().preflightProblem;
      const problem = withinProbe(trackers.findPreflightProblem().catch(errorText), known);
      const database = storeFaultOf(trackers) === null && (await answers());
      return { database, preflight: (await problem) === null, workflow: true };
    },
  };
}

/** A database that can be read and not written is as good as none. */
function storeFaultOf(trackers: WatchedTrackers): string | null {
  return (
    trackers
      .loops()
      .map((loop) => loop.storeFault())
      .find((fault) => fault !== null) ?? null
  );
}

export function kindsOf({ tracker, reactions }: Settings): readonly WatchedKind[] {
  return PROVIDER_FACTS.filter(({ kind }) => kind === tracker.kind || kind === reactions.connection?.kind);
}

/** A request is pending until a poll began after it; what comes meanwhile is merged with it. */
function createRefresh(active: () => Loop, clock: Clock): Daemon['requestRefresh'] {
  let requestedAt = 0;
  return () => {
    const { lifecycle, poll } = active().state();
    if (lifecycle === 'draining') return { queued: false, coalesced: false };
    const coalesced = poll.begunAt < requestedAt;
    if (!coalesced) requestedAt = clock.now();
    active().report({ type: 'refresh-requested', byPerson: true });
    return { queued: true, coalesced };
  };
}
