import os from 'node:os';
import { NOTHING_DURABLE, type Durable } from '../../domain/model/durable.ts';
import { shownHostOf } from '../../domain/model/host-path.ts';
import { LEADER_BEAT_MS } from '../../domain/model/lease-times.ts';
import type { OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import type { Run } from '../../domain/model/run.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { NO_SESSION, type Live, type State } from '../../domain/model/state.ts';
import { rebuilt } from '../../domain/recover.ts';
import { snapshotOf, type Snapshot } from '../../domain/views/snapshot.ts';
import { createReleasers } from '../../lib/releasers.ts';
import { createNotices } from '../../orchestrator/notices.ts';
import type { Daemon, LeaderView } from '../../ports/daemon.ts';
import type { HostView } from '../../ports/runner.ts';
import type { SteadyClock } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import type { Leader } from '../../store/postgres/index.ts';
import { keepChronicle, troublesSince, type Trouble } from '../pages/chronicle.ts';
import type { DaemonOptions } from '../daemon/daemon.ts';
import type { KeptWorkflow } from '../daemon/kept-workflow.ts';
import { kindsOf } from '../daemon/open-pages.ts';
import { processStart } from '../daemon/process-start.ts';
import { askLeader } from './ask-leader.ts';
import { followFile } from './follow-file.ts';
import { createChanges } from './read-changes.ts';
import { createDatabaseCheck } from '../pages/readiness.ts';
import { serveHttp } from '../pages/serve-http.ts';
import { serveWhenFree } from '../pages/serve-when-free.ts';
import type { PassedOn } from '../leader/shared-hints.ts';
import type { GoodWorkflow } from '../workflow.ts';
import { errorText } from '../../lib/error-text.ts';

/** A daemon that does not lead: the same pages and API, from what the leader has stored. */
export interface Standby {
  readonly url: string | null;
  /** Reads what the leader has stored by now. */
  look(leader: Leader | null): Promise<void>;
  stop(): Promise<void>;
}

/** Runs under way that are shown; more than any fleet has slots. */
const RUNS_SHOWN = 1_000;
/** The records are read every second: after so long without, what is shown may be over. */
const UNREAD_MS = 5 * LEADER_BEAT_MS;
/** What is answered to those who wait for the leader when this one stands by no longer. */
const STOPPING = 'this service is stopping: ask another one, or again when it has started';
const TAKING_OVER = 'this service is just taking over the lead: ask again in a moment';

/** What a standby reads with, and whom it tells. */
export interface StandbyDeps {
  readonly kept: KeptWorkflow;
  readonly store: Store;
  readonly passedOn: PassedOn;
  /** The workers of the service. */
  readonly readHosts: () => Promise<readonly HostView[]>;
}

/** What was last read of the leader's records. */
interface Shown {
  state: State | null;
  leader: LeaderView | null;
  /** Whose service leads, where it watches another tracker than this one's. */
  otherFile: string | null;
  hosts: readonly HostView[];
  /** What keeps the leader back. */
  troubles: readonly Trouble[];
  /** When all of this was read. */
  readAt: number;
}

export async function openStandby(options: Omit<DaemonOptions, 'term'>, deps: StandbyDeps): Promise<Standby> {
  const { clock, logger } = options;
  const { store, kept } = deps;
  const releasers = createReleasers((fault) => logger.error('closing failed', { error: errorText(fault) }));
  const notices = createNotices((fault) => logger.error('a listener failed', { error: errorText(fault) }));
  const shown: Shown = { state: null, leader: null, otherFile: null, hosts: [], troubles: [], readAt: clock.now() };
  const nothing = (): Snapshot => snapshotOf(stateOf(kept.current(), clock, { runs: [], durable: NOTHING_DURABLE }), clock.now());
  const chronicle = keepChronicle({ store, notices, clock, logger });
  releasers.push(() => chronicle.stop());
  releasers.push(() => deps.passedOn.stop());
  const over = new AbortController();
  const changes = createChanges();
  const { whenChanged } = changes;
  const file = followFile(options, kept);
  releasers.push(file.stop);
  const about = { ...aboutService(options), workflow: file.status };
  const daemon: Daemon = { ...about, notices, chronicle, whenChanged, ...viewOf(shown, { ...deps, over: over.signal }, options) };
  const measured = (): Snapshot => daemon.snapshot() ?? nothing();
  const place = { server: kept.current().settings.server, port: options.port, kept: options.keptPort };
  const served = await serveWhenFree((opened) => serveHttp(daemon, place, opened, measured), {
    releasers,
    tell: (fault) => logger.warn('standing by without pages', { error: errorText(fault) }),
  });
  // Before the server stops, which waits a little for answers that are under way.
  releasers.push(() => over.abort(options.interrupted.aborted ? STOPPING : TAKING_OVER));
  file.start(() => served.admit(kept.current().settings.server));
  return {
    get url() {
      return served.url;
    },
    async look(found) {
      shown.leader = found && { host: found.host, pid: found.pid, url: found.url, since: found.since, epoch: found.epoch };
      const tracker = await store.identityOf(kept.current().settings.tracker.identity);
      const theirs = found === null || found.left || found.tracker === null ? tracker : await store.identityOf(found.tracker);
      shown.otherFile = theirs === tracker ? null : `${found?.workflowPath} on ${found?.host}`;
      const durable = await store.load(tracker);
      const runs = await store.listRuns({ limit: RUNS_SHOWN });
      shown.state = stateOf(kept.current(), clock, { runs, durable });
      shown.hosts = await deps.readHosts();
      shown.troubles = found === null ? [] : await troublesSince(found.since, store);
      shown.readAt = clock.now();
      const { leader, troubles } = shown;
      changes.compare({ leader, troubles, durable, runs, hosts: shown.hosts, workflow: file.status() });
    },
    stop: () => releasers.run(),
  };
}

/** What does not change while it stands by. */
function aboutService({ workflow, version, clock, logger, secrets }: Omit<DaemonOptions, 'term'>) {
  return {
    version,
    clock,
    logger,
    mask: secrets.mask,
    place: { host: os.hostname(), project: workflow.settings.tracker.project },
    isDraining: () => false,
  };
}

interface ViewDeps extends StandbyDeps {
  /** Aborted when this one stands by no longer. */
  readonly over: AbortSignal;
}

/** What the HTTP side sees of the records. What people and vendors ask for is passed on to the leader. */
function viewOf(shown: Shown, { store, passedOn, kept, over }: ViewDeps, { clock }: Omit<DaemonOptions, 'term'>) {
  const settings = (): Settings => kept.current().settings;
  const answers = createDatabaseCheck(() => store.ping());
  return {
    history: store,
    notes: { listNotes: store.listNotes, addNotes: passedOn.addNotes },
    snapshot: () => (shown.state === null ? null : troubledBy(shown.troubles, snapshotOf(shown.state, clock.now()))),
    revision: () => shown.state,
    hosts: () => shown.hosts,
    leader: () => ({ role: 'standby', leader: shown.leader, ...unreadFor(clock.now() - shown.readAt, shown) }) as const,
    requestRefresh: async () => ({ queued: true, coalesced: await passedOn.refresh() }),
    hint: passedOn.webhook,
    watchedKinds: () => kindsOf(settings()),
    trackerOf: () => settings().tracker.identity,
    ask: async (request: OperatorRequest, by: string) =>
      ownedBy(shown.otherFile, request, await askLeader({ request, by, tracker: settings().tracker.identity }, { store, over })),
    checkReadiness: async () => ({ database: await answers(), preflight: true, workflow: true }),
  };
}

function unreadFor(ms: number, { readAt }: Shown): { unreadSince?: number } {
  return ms > UNREAD_MS ? { unreadSince: readAt } : {};
}

/** A pause is of the service that leads, whatever it watches: it says whose that is. */
function ownedBy(otherFile: string | null, request: OperatorRequest, answer: OperatorAnswer): OperatorAnswer {
  if (otherFile === null || 'identifier' in request) return answer;
  return { ...answer, message: `${answer.message} (the running service of ${otherFile})` };
}

/** The tracker is asked by the leader alone: what is said of it is what the leader wrote down. When it polls is not. */
function troubledBy(troubles: readonly Trouble[], { poll, ...snapshot }: Snapshot): Snapshot {
  const preflightProblem = troubles.find(({ what }) => what === 'preflight')?.text ?? null;
  const quota = troubles.find(({ what }) => what === 'tracker_quota');
  const postponedPoll = quota?.nextTryAt == null ? null : { reason: quota.text, until: quota.nextTryAt };
  const tracker = troubles.find(({ what }) => what === 'tracker');
  const told = { waitsSince: null, nextAt: postponedPoll?.until ?? null, ...(tracker && pollFaultOf(tracker)) };
  return { ...snapshot, preflightProblem, postponedPoll, poll: { ...poll, ...told } };
}

function pollFaultOf({ since: at, text: error, nextTryAt, isSilence }: Trouble): Partial<Snapshot['poll']> {
  if (isSilence) return { waitsSince: at };
  if (nextTryAt !== null) return { startFault: { at, error, remedy: null, nextTryAt } };
  return { last: { at, durationMs: 0, candidates: 0, error } };
}

interface Stored {
  readonly runs: readonly Run[];
  readonly durable: Durable;
}

/** What the leader's own state looks like from its records. */
function stateOf({ settings }: GoodWorkflow, clock: SteadyClock, { runs, durable }: Stored): State {
  const state = rebuilt(settings, durable, 'standby', clock.now());
  const running = new Set([...state.claims.values()].flatMap((claim) => (claim.phase === 'running' ? [claim.runId] : [])));
  const live = runs.filter((run) => running.has(run.id)).map(liveOf);
  return { ...state, startedAt: processStart(clock), live: new Map(live.map((entry) => [entry.issue.id, entry])) };
}

function liveOf(run: Run): Live {
  return {
    ...NO_SESSION,
    issue: run.issue,
    runId: run.id,
    attempt: run.attempt,
    pickedFrom: run.issue.state,
    startedAt: run.startedAt,
    lastEventAt: run.startedAt,
    savedAt: run.startedAt,
    lastEvent: 'running',
    workspacePath: run.workspacePath,
    host: shownHostOf(run.workspacePath),
    sessionId: run.sessionId,
    turn: run.turns,
    model: run.model,
    tokens: run.tokens,
    tokensMeasured: run.tokensMeasured,
    costUsd: run.costUsd,
  };
}
