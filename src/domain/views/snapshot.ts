import { addTokens, type TokenUsage } from '../model/agent-event.ts';
import { earliestDue, type AgentPause, type Parked, type WaitingClaim } from '../model/claim.ts';
import { personFor } from '../reactions/escalation.ts';
import { waitingHold } from '../rules/eligibility.ts';
import { globalSlots } from '../rules/slots.ts';
import { isNotification, type NotificationTarget } from '../model/notification.ts';
import type { PostponedPoll, Quota } from '../model/quota.ts';
import type { OperatorPause } from '../model/operator.ts';
import type { Hold, HoldVerdict } from '../model/hold.ts';
import type { PollState } from '../model/poll.ts';
import type { State, Totals } from '../model/state.ts';
import type { ReactionProgress } from '../model/watch.ts';
import { presentOf } from './present-hold.ts';
import type { StartFault } from './start-fault.ts';
import { type RunningView, runningViews } from './running-view.ts';
import { type WatchView, watchView } from './watch-view.ts';

/** The one read model: JSON API, dashboard, metrics and agent tools all show this. */
export interface Snapshot {
  readonly generatedAt: number;
  readonly startedAt: number;
  readonly lifecycle: 'serving' | 'draining';
  readonly trackerName: string;
  readonly agentKind: string;
  readonly running: readonly RunningView[];
  readonly retrying: readonly RetryView[];
  /** What keeps issues of the retry queue back besides their time, by issue id. */
  readonly retryHolds: ReadonlyMap<string, HoldVerdict>;
  readonly parked: readonly Parked[];
  readonly holds: readonly Hold[];
  readonly pauses: readonly AgentPause[];
  readonly watches: readonly WatchView[];
  readonly slots: { readonly max: number; readonly available: number };
  /** Cumulative since start; the seconds include sessions that still run. */
  readonly totals: TotalsView;
  readonly poll: Pick<PollState, 'last'> & {
    /** Null where the one that polls alone knows. */
    readonly nextAt: number | null;
    readonly inFlight: boolean;
    /** Since when the tracker is waited for, at start too; null while it is not. */
    readonly waitsSince?: number | null;
    /** Why the tracker could not be read at start, while it is tried again. */
    readonly startFault?: StartFault | null;
  };
  /** Set while the next poll waits for the tracker's quota. */
  readonly postponedPoll: Pick<PostponedPoll, 'reason' | 'until'> | null;
  /** What the tracker and the forge said is left of their budgets. */
  readonly quotas: readonly Quota[];
  readonly preflightProblem: string | null;
  /** Why the database takes no write: nothing goes on until it does. */
  readonly storeProblem?: string | null;
  /** Set while a person keeps the service from dispatching. */
  readonly operatorPause: OperatorPause | null;
  readonly notifications: readonly NotificationView[];
  /** Dollars one issue may cost; 0 is no limit. */
  readonly costLimitUsd: number;
  /** Whether `tracker.query_filter` leaves issues out. */
  readonly isFiltered: boolean;
}

/** One who is told of what happens, and whether the messages arrive. */
export interface NotificationView extends Pick<NotificationTarget, 'format' | 'on'> {
  readonly target: string;
  readonly waiting: number;
  readonly failing: { readonly since: number; readonly error: string; readonly tries: number; readonly nextTryAt: number } | null;
}

interface TotalsView {
  readonly tokens: TokenUsage;
  readonly secondsRunning: number;
  /** Those under way, each of which adds a second every second. */
  readonly sessions: number;
  readonly costUsd: number;
}

/** What the seconds of all sessions add up to some time after the snapshot was made, as long as nothing else changed. */
export function secondsRunningAt(now: number, { generatedAt, totals }: Pick<Snapshot, 'generatedAt' | 'totals'>): number {
  return totals.secondsRunning + (totals.sessions * (now - generatedAt)) / 1000;
}

export interface RetryView {
  readonly issueId: string;
  readonly issueIdentifier: string;
  readonly displayIdentifier: string | null;
  readonly title: string;
  readonly url: string;
  readonly attempt: number;
  readonly dueAt: number;
  readonly error: string;
}

/** The watched tracker, with what runs for those watched before, and what ran for those that are closed. */
export function snapshotOfAll([watched, ...others]: readonly State[], now: number, { closed, ...faults }: Untold): Snapshot {
  if (watched === undefined) throw new Error('no tracker is watched yet');
  const snapshot = others.map((state) => snapshotOf(state, now)).reduce(withRunsOf, snapshotOf(watched, now, faults));
  return { ...snapshot, totals: sumOf(snapshot.totals, { ...closed, secondsRunning: closed.seconds, sessions: 0 }) };
}

function withRunsOf(snapshot: Snapshot, other: Snapshot): Snapshot {
  return {
    ...snapshot,
    running: [...snapshot.running, ...other.running].sort((a, b) => a.startedAt - b.startedAt),
    totals: sumOf(snapshot.totals, other.totals),
  };
}

function sumOf(a: TotalsView, b: TotalsView): TotalsView {
  return {
    tokens: addTokens(a.tokens, b.tokens),
    secondsRunning: a.secondsRunning + b.secondsRunning,
    sessions: a.sessions + b.sessions,
    costUsd: a.costUsd + b.costUsd,
  };
}

/** What the states of the trackers that are there do not tell. */
interface Untold extends Faults {
  /** What runs took of the trackers that are no longer there. */
  readonly closed: Totals;
}

/** What no state tells: a loop that cannot store, or that has not begun, does not change its state. */
interface Faults {
  readonly storeProblem: string | null;
  readonly startFault: StartFault | null;
}

const NO_FAULTS: Faults = { storeProblem: null, startFault: null };

export function snapshotOf(state: State, now: number, { storeProblem, startFault }: Faults = NO_FAULTS): Snapshot {
  const live = [...state.live.values()];
  return {
    generatedAt: now,
    startedAt: state.startedAt,
    lifecycle: state.lifecycle === 'draining' ? 'draining' : 'serving',
    trackerName: state.settings.tracker.name,
    agentKind: state.settings.agent.kind,
    running: runningViews(state, now),
    retrying: waiting(state).map(retryView),
    get retryHolds() {
      return retryHoldsOf(state, now);
    },
    parked: [...state.parked.values(), ...escalated(state)],
    get holds() {
      return holdsOf(state, now);
    },
    pauses: [...state.pauses.values()],
    watches: [...state.watches.values()].map((watch) => watchView(state, watch, now)),
    slots: { max: state.settings.agent.maxConcurrentAgents, available: globalSlots(state) },
    totals: {
      tokens: state.totals.tokens,
      secondsRunning: state.totals.seconds + live.reduce((sum, entry) => sum + (now - entry.startedAt) / 1000, 0),
      sessions: live.length,
      costUsd: state.totals.costUsd,
    },
    poll: { ...pollView(state.poll), startFault },
    postponedPoll: state.poll.postponed,
    quotas: watchedQuotas(state),
    preflightProblem: state.preflightProblem,
    storeProblem,
    operatorPause: state.operatorPause,
    notifications: state.settings.notifications.map((target) => notificationView(state, target)),
    costLimitUsd: state.settings.agent.maxCostUsd,
    isFiltered: state.settings.tracker.queryFilter.trim() !== '',
  };
}

/** As they are now, which is judged once until one falls due: there may be thousands. */
function holdsOf(state: State, now: number): readonly Hold[] {
  const kept = HOLDS.get(state);
  if (kept !== undefined && now < kept.until) return kept.holds;
  const holds = [...state.holds.values()].map((hold) => presentOf({ state, now }, hold));
  const later = waiting(state).filter(({ dueAt }) => dueAt > now);
  const endings = [...state.endingElsewhere.values()].filter((until) => until > now);
  HOLDS.set(state, { holds, until: Math.min(earliestDue(later), ...endings) });
  return holds;
}

function retryHoldsOf(state: State, now: number): ReadonlyMap<string, HoldVerdict> {
  const held = waiting(state).map((claim) => [claim.issue.id, waitingHold({ state, now }, claim)] as const);
  return new Map(held.filter((entry): entry is [string, HoldVerdict] => entry[1] !== null));
}

const HOLDS = new WeakMap<State, { readonly holds: readonly Hold[]; readonly until: number }>();

function watchedQuotas({ quotas, settings }: State): readonly Quota[] {
  const kinds = [settings.tracker.kind, settings.reactions.connection?.kind];
  return [...quotas.values()].filter(({ kind }) => kinds.includes(kind));
}

function notificationView(state: State, { name, format, on }: NotificationTarget): NotificationView {
  const waiting = [...state.outbox.values()].filter(isNotification).filter(({ write }) => write.target === name);
  const [first] = waiting;
  const failing =
    first === undefined || first.tries === 0
      ? null
      : { since: first.write.at, error: first.write.error, tries: first.tries, nextTryAt: first.dueAt };
  return { target: name, format, on, waiting: waiting.length, failing };
}

/** The same view again for the same claim. */
function retryView(claim: WaitingClaim): RetryView {
  const kept = RETRIES.get(claim);
  if (kept !== undefined) return kept;
  const { issue, attempt, dueAt, error } = claim;
  const view = {
    issueId: issue.id,
    issueIdentifier: issue.identifier,
    displayIdentifier: issue.displayIdentifier,
    title: issue.title,
    url: issue.url,
    attempt,
    dueAt,
    error,
  };
  RETRIES.set(claim, view);
  return view;
}

const RETRIES = new WeakMap<WaitingClaim, RetryView>();

function waiting(state: State): readonly WaitingClaim[] {
  return [...state.claims.values()]
    .filter((claim): claim is WaitingClaim => claim.phase === 'waiting')
    .sort((a, b) => a.dueAt - b.dueAt);
}

/** A reaction that asked for a person is shown with the parked issues; `foray unpark` lets it try again. */
function escalated(state: State): readonly Parked[] {
  return [...state.watches.values()].flatMap((watch) => {
    const kinds = Object.entries<ReactionProgress>(watch.reactions).filter(([, progress]) => progress.escalated);
    if (kinds.length === 0) return [];
    // What it looks at meanwhile does not change why a person is needed.
    const detail = kinds
      .map(([kind, { asked, waitingFor }]) => `${kind}: ${asked ? personFor(asked.why) : waitingFor}`)
      .join('; ');
    const parkedAt = Math.min(...kinds.map(([, { asked }]) => asked?.at ?? watch.armedAt));
    return [{ issue: watch.issue, reason: 'escalated', detail, parkedAt, stateAtPark: watch.issue.state } as const];
  });
}

/** Before the first poll the tracker is proved: that one is due, and has not begun. */
function pollView({ last, nextAt: wakesAt, inFlight, begunAt, postponed }: PollState): Snapshot['poll'] {
  const isProved = begunAt > 0 || last !== null;
  // While polls wait for the quota, only running issues are looked up before.
  const nextAt = Math.max(wakesAt, postponed?.until ?? 0);
  return { last, nextAt, inFlight: inFlight !== null, waitsSince: inFlight?.startedAt ?? (isProved ? null : nextAt) };
}
