import type { TokenUsage } from '../model/agent-event.ts';
import { stopperOf, type HandoffClaim } from '../model/claim.ts';
import { NO_SESSION, type Live, type State } from '../model/state.ts';

/** A running session as it is shown. */
export interface RunningView {
  readonly issueId: string;
  readonly issueIdentifier: string;
  readonly displayIdentifier: string | null;
  readonly title: string;
  readonly url: string;
  readonly state: string;
  /** No label says so. */
  readonly stateAssumed?: boolean;
  readonly attempt: number;
  readonly runId: string;
  readonly sessionId: string;
  readonly turnCount: number;
  readonly lastEvent: string;
  readonly lastMessage: string;
  readonly startedAt: number;
  readonly lastEventAt: number;
  readonly workspacePath: string;
  /** The host it runs on; null for this machine. */
  readonly host: string | null;
  readonly tokens: TokenUsage;
  readonly tokensMeasured: boolean;
  readonly modelName: string | null;
  readonly apiRequestCount: number;
  readonly requestsByModel: Readonly<Record<string, number>>;
  readonly toolTimePercent: number | null;
  readonly apiTimePercent: number | null;
  readonly costUsd: number | null;
  /** Who asked for its end, which is not over yet. */
  readonly stoppedBy: string | null;
}

/** Sessions under way and issues that are being handed off, the longest first. */
export function runningViews(state: State, now: number): readonly RunningView[] {
  return [
    ...[...state.live.values()].map((live) => runningView(live, now, stopperOf(state.claims.get(live.issue.id)))),
    ...handingOff(state).map((departed) => runningView(departed, now)),
  ].sort((a, b) => a.startedAt - b.startedAt);
}

/** Shares of time are of the time since the session began. The same view again as long as it would say the same: what is made of it can be kept. */
export function runningView(live: Live, now: number, stoppedBy: string | null = null): RunningView {
  const elapsed = now - live.startedAt;
  const [toolTimePercent, apiTimePercent] = [percent(live.toolMs, elapsed), percent(live.apiMs, elapsed)];
  const kept = VIEWS.get(live);
  const told = { toolTimePercent, apiTimePercent, stoppedBy };
  if (kept !== undefined && isSaid(kept, told)) return kept;
  const view = { ...sessionView(live), ...told };
  VIEWS.set(live, view);
  return view;
}

const VIEWS = new WeakMap<Live, RunningView>();

/** What a view tells besides the session. */
type Told = Pick<RunningView, 'toolTimePercent' | 'apiTimePercent' | 'stoppedBy'>;

function isSaid(kept: Told, told: Told): boolean {
  return (
    kept.toolTimePercent === told.toolTimePercent &&
    kept.apiTimePercent === told.apiTimePercent &&
    kept.stoppedBy === told.stoppedBy
  );
}

function sessionView(live: Live): Omit<RunningView, keyof Told> {
  return {
    issueId: live.issue.id,
    issueIdentifier: live.issue.identifier,
    displayIdentifier: live.issue.displayIdentifier,
    title: live.issue.title,
    url: live.issue.url,
    state: live.issue.state,
    ...(live.issue.stateAssumed ? { stateAssumed: true } : {}),
    attempt: live.attempt,
    runId: live.runId,
    sessionId: live.sessionId,
    turnCount: live.turn,
    lastEvent: live.lastEvent,
    lastMessage: live.lastMessage,
    startedAt: live.startedAt,
    lastEventAt: live.lastEventAt,
    workspacePath: live.workspacePath,
    host: live.host,
    tokens: live.tokens,
    tokensMeasured: live.tokensMeasured,
    modelName: live.model,
    apiRequestCount: live.requests,
    requestsByModel: live.requestsByModel,
    costUsd: live.costUsd,
  };
}

function percent(partMs: number | null, wholeMs: number): number | null {
  if (partMs === null || wholeMs <= 0) return null;
  return Math.round(Math.min(100, (partMs / wholeMs) * 100) * 10) / 10;
}

/** Until the tracker has taken the handoff the issue still counts as running. */
function handingOff(state: State): readonly Live[] {
  return [...state.claims.values()].flatMap((claim) => {
    if (claim.phase !== 'handing-off') return [];
    return [state.departed.get(claim.issue.id) ?? afterRestart(claim)];
  });
}

/** A handoff that a restart found half done: the session itself is no longer known. */
function afterRestart(claim: HandoffClaim): Live {
  return {
    ...NO_SESSION,
    issue: claim.issue,
    runId: claim.handoff.runId,
    attempt: claim.attempt,
    pickedFrom: claim.issue.state,
    startedAt: claim.since,
    sessionId: claim.sessionId ?? '',
    lastEvent: 'handing_off',
    lastEventAt: claim.since,
    savedAt: claim.since,
  };
}
