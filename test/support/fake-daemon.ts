import { NO_TOKENS } from '../../src/domain/model/agent-event.ts';
import { addCosts, costOfRun, NO_COST } from '../../src/domain/model/cost.ts';
import type { IssueRef } from '../../src/domain/model/issue.ts';
import type { Notice } from '../../src/domain/model/notice.ts';
import type { OperatorAnswer, OperatorRequest } from '../../src/domain/model/operator.ts';
import type { Run, RunEvent } from '../../src/domain/model/run.ts';
import type { RunningView } from '../../src/domain/views/running-view.ts';
import type { RetryView, Snapshot } from '../../src/domain/views/snapshot.ts';
import type { HostView } from '../../src/ports/runner.ts';
import type { Daemon, Readiness, WorkflowStatus } from '../../src/ports/daemon.ts';
import type { NoticeBus } from '../../src/ports/events.ts';
import { PROVIDER_FACTS } from '../../src/providers/facts.ts';
import { keepChronicle } from '../../src/app/pages/chronicle.ts';
import { createMemoryStore, statisticsOf } from './store/memory.ts';
import type { LogAttributes, LogLevel } from '../../src/ports/runtime.ts';

/** 2026-03-01T12:00:00.000Z */
export const NOON = Date.UTC(2026, 2, 1, 12);

/** A daemon of plain values: change `snapshot` and the rest between two requests. */
export interface FakeDaemon extends Daemon {
  now: number;
  current: Snapshot | null;
  draining: boolean;
  refreshPending: boolean;
  hints: number;
  status: WorkflowStatus;
  hostViews: readonly HostView[];
  kinds: readonly string[];
  ready: () => Promise<Readiness>;
  runs: readonly Run[];
  runEvents: readonly RunEvent[];
  /** How many listen to the notices. */
  listeners(): number;
  /** What was asked for, and what is answered. */
  readonly asked: { request: OperatorRequest; by: string }[];
  answer: OperatorAnswer;
  /** The one secret that it knows. */
  readonly secret: string;
  /** What follows from a request. */
  onAsked?: () => void;
  readonly logged: readonly { level: LogLevel; message: string; attributes: LogAttributes }[];
}

export function createFakeDaemon(
  changes: Partial<Pick<FakeDaemon, 'now' | 'current' | 'runs' | 'runEvents' | 'notes' | 'trackerOf'>> = {},
): FakeDaemon {
  const notices = createNotices();
  const logged: { level: LogLevel; message: string; attributes: LogAttributes }[] = [];
  const log =
    (level: LogLevel) =>
    (message: string, attributes: LogAttributes = {}) =>
      void logged.push({ level, message, attributes });
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const clock = { now: () => daemon.now };
  const store = createMemoryStore();
  const chronicle = keepChronicle({ store, notices, clock, logger });
  const ownListeners = notices.count();
  const daemon: FakeDaemon = {
    version: '1.2.3',
    now: NOON,
    current: aSnapshot(),
    draining: false,
    refreshPending: false,
    hints: 0,
    kinds: ['repoissues'],
    ready: () => Promise.resolve({ database: true, preflight: true, workflow: true }),
    runs: [],
    runEvents: [],
    asked: [],
    answer: { outcome: 'taken', message: 'done' },
    secret: 'hush-hush-hush',
    mask: (text) => text.replaceAll(daemon.secret, '[redacted]'),
    logged,
    clock,
    logger,
    notices,
    listeners: () => notices.count() - ownListeners,
    snapshot: () => daemon.current,
    isDraining: () => daemon.draining,
    requestRefresh() {
      const coalesced = daemon.refreshPending;
      daemon.refreshPending = true;
      return { queued: true, coalesced };
    },
    revision: () => daemon.current,
    place: { host: 'build-7', project: 'acme/shop' },
    status: { path: '/srv/shop/WORKFLOW.md', appliedAt: NOON - 3_600_000, warnings: [], rejected: null, problems: [] },
    workflow: () => daemon.status,
    hosts: () => daemon.hostViews,
    hostViews: [],
    hint: () => void (daemon.hints += 1),
    watchedKinds: () => PROVIDER_FACTS.filter(({ kind }) => daemon.kinds.includes(kind)),
    async ask(request, by) {
      daemon.asked.push({ request, by });
      daemon.onAsked?.();
      return daemon.answer;
    },
    checkReadiness: () => daemon.ready(),
    chronicle,
    notes: store,
    trackerOf: () => '',
    history: {
      statistics: async ({ since, by, agent, identifier, anyCase }) =>
        statisticsOf(
          daemon.runs
            .filter(({ agentKind }) => (agent ?? agentKind) === agentKind)
            .filter((run) => identifier === undefined || isNamed(run, identifier, anyCase === true)),
          since,
          by,
        ),
      listRuns: async ({ identifier, anyCase, limit, before, after }) =>
        daemon.runs
          .filter(
            ({ startedAt, id }) =>
              after === undefined || startedAt < after.startedAt || (startedAt === after.startedAt && id < after.id),
          )
          .filter((run) => identifier === undefined || isNamed(run, identifier, anyCase === true))
          .filter((run) => before === undefined || run.startedAt < before)
          .slice(0, limit),
      findRun: async (id) => {
        const run = daemon.runs.find((candidate) => candidate.id === id);
        return run === undefined ? null : { run, events: daemon.runEvents.filter((event) => event.runId === id) };
      },
      totals: async () => {
        const ended = daemon.runs.filter(({ endedAt }) => endedAt !== null);
        return {
          runs: ended.length,
          inputTokens: 0,
          outputTokens: 0,
          totalTokens: ended.reduce((sum, run) => sum + run.tokens.totalTokens, 0),
          cacheReadTokens: 0,
          seconds: ended.reduce((sum, run) => sum + ((run.endedAt ?? 0) - run.startedAt) / 1000, 0),
          ...ended.map(costOfRun).reduce(addCosts, NO_COST),
        };
      },
    },
    ...changes,
  };
  return daemon;
}

export function createNotices(): NoticeBus & { count(): number } {
  const listeners = new Set<(notice: Notice) => void>();
  return {
    announce: (notice) => listeners.forEach((listener) => listener(notice)),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    count: () => listeners.size,
  };
}

export function aSnapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    generatedAt: NOON,
    startedAt: NOON - 3_600_000,
    lifecycle: 'serving',
    notifications: [],
    trackerName: 'file',
    agentKind: 'mock',
    running: [],
    retrying: [],
    retryHolds: new Map(),
    parked: [],
    holds: [],
    pauses: [],
    watches: [],
    slots: { max: 10, available: 10 },
    totals: { tokens: NO_TOKENS, secondsRunning: 0, sessions: 0, costUsd: 0 },
    poll: { last: { at: NOON - 18_000, durationMs: 120, candidates: 0, error: null }, nextAt: NOON + 12_000, inFlight: false },
    postponedPoll: null,
    quotas: [],
    preflightProblem: null,
    operatorPause: null,
    costLimitUsd: 0,
    isFiltered: false,
    ...changes,
  };
}

export function anIssue(identifier: string, changes: Partial<IssueRef> = {}): IssueRef {
  return {
    id: `id-${identifier}`,
    identifier,
    displayIdentifier: null,
    title: `Title of ${identifier}`,
    url: `https://tracker.example/${encodeURIComponent(identifier)}`,
    state: 'todo',
    ...changes,
  };
}

export function aRunning(identifier: string, changes: Partial<RunningView> = {}): RunningView {
  return {
    issueId: `id-${identifier}`,
    issueIdentifier: identifier,
    displayIdentifier: null,
    title: `Title of ${identifier}`,
    url: `https://tracker.example/${encodeURIComponent(identifier)}`,
    state: 'todo',
    attempt: 0,
    runId: `run-${identifier}`,
    sessionId: 'mock-session-1',
    turnCount: 2,
    lastEvent: 'turn_completed',
    lastMessage: '',
    startedAt: NOON - 65_000,
    lastEventAt: NOON - 5_000,
    workspacePath: `/workspaces/${encodeURIComponent(identifier)}`,
    host: null,
    tokens: { inputTokens: 1200, outputTokens: 300, totalTokens: 1500, cacheReadTokens: 800 },
    tokensMeasured: true,
    modelName: null,
    apiRequestCount: 4,
    requestsByModel: {},
    toolTimePercent: null,
    apiTimePercent: null,
    costUsd: null,
    stoppedBy: null,
    ...changes,
  };
}

export function aRetry(identifier: string, changes: Partial<RetryView> = {}): RetryView {
  return {
    issueId: `id-${identifier}`,
    issueIdentifier: identifier,
    displayIdentifier: null,
    title: `Title of ${identifier}`,
    url: `https://tracker.example/${encodeURIComponent(identifier)}`,
    attempt: 1,
    dueAt: NOON + 20_000,
    error: 'agent: turn_failed: it did not work',
    ...changes,
  };
}

export function aRun(id: string, changes: Partial<Run> = {}): Run {
  return {
    id,
    issue: anIssue('ENG-1'),
    attempt: 0,
    trigger: 'fresh',
    agentKind: 'mock',
    status: 'succeeded',
    startedAt: NOON - 600_000,
    endedAt: NOON - 300_000,
    turns: 3,
    sessionId: 'mock-session-1',
    workspacePath: '/workspaces/ENG-1',
    model: null,
    tokens: { inputTokens: 1200, outputTokens: 300, totalTokens: 1500, cacheReadTokens: 800 },
    tokensMeasured: true,
    costUsd: null,
    error: null,
    ...changes,
  };
}

function isNamed({ issue }: Run, identifier: string, anyCase: boolean): boolean {
  return anyCase ? issue.identifier.toLowerCase() === identifier.toLowerCase() : issue.identifier === identifier;
}
