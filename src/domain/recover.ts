import { change, closeDraft, interruptRuns, openDraft, putClaim, putWaiting, type Draft } from './draft.ts';
import {
  earliestDue,
  holdsSlot,
  type Handoff,
  type HandoffClaim,
  type WaitingClaim,
  type WorkspaceRecord,
} from './model/claim.ts';
import type { Durable } from './model/durable.ts';
import type { Decision } from './model/effect.ts';
import { cutPauses, leavePauses } from './events/agent-pauses.ts';
import { clampDueTimes } from './events/clock-set.ts';
import { NEW_LEADER_ERROR, RESTART_ERROR } from './events/on-exit.ts';
import { parkStopped } from './events/on-operator.ts';
import { queueNews, startNews } from './events/news.ts';
import { uncountSession } from './events/spent.ts';
import { lookWithinInterval } from './reactions/look-sooner.ts';
import { lookAgain } from './reactions/queued-turn.ts';
import { stateIn } from './model/issue.ts';
import { NO_QUEUE, type PollState } from './model/poll.ts';
import { CONTINUATION_MS } from './rules/backoff.ts';
import type { Settings } from './model/settings.ts';
import { NO_TOTALS, type State } from './model/state.ts';

/** What may still go on under the leader before. */
export interface Elsewhere {
  /** How long its runs may; not at all where its processes are surely gone. */
  readonly delayMs: number;
  /** Until when those may that an earlier change of leader cut short, by issue id. */
  readonly endingElsewhere: ReadonlyMap<string, number>;
}

const NOTHING_ELSEWHERE: Elsewhere = { delayMs: 0, endingElsewhere: new Map() };

/**
 * The state a daemon starts with. What was running when the last one died is put back into the retry queue, due at
 * once, or later where its session may still go on elsewhere; handoffs under way are asked for again by the first clock
 * event; everything else goes on where it was.
 */
export function recover(
  settings: Settings,
  durable: Durable,
  instance: string,
  now: number,
  { delayMs, endingElsewhere }: Elsewhere = NOTHING_ELSEWHERE,
): Decision {
  const rested = rebuilt(settings, durable, instance, now, endingElsewhere);
  const draft = openDraft(rested, now);
  const error = delayMs > 0 ? NEW_LEADER_ERROR : RESTART_ERROR;
  interruptRuns(draft);
  for (const claim of draft.state.claims.values()) {
    if (claim.phase === 'running') requeue(draft, claim.issue.id, { delayMs, error });
    else retarget(draft, claim);
  }
  leavePauses(draft);
  cutPauses(draft);
  clampDueTimes(draft);
  keepWaiting(draft);
  lookAgain(draft);
  lookWithinInterval(draft);
  queueNews(draft, rested, startNews(rested));
  return closeDraft(draft);
}

/** A handoff to a state that is configured no more goes to the present one; without any, the issue is worked on. */
function retarget(draft: Draft, claim: WaitingClaim | HandoffClaim): void {
  const handoff = handoffOf(claim);
  const { handoffState, noChangeState } = draft.state.settings.tracker;
  if (handoff === null || stateIn([handoffState ?? '', noChangeState ?? ''], handoff.target)) return;
  if (handoffState === null) return goOnWorking(draft, claim);
  const next = { ...handoff, target: handoffState };
  putClaim(
    draft,
    claim.phase === 'waiting' ? { ...claim, then: { kind: 'handoff', handoff: next } } : { ...claim, handoff: next },
  );
}

function handoffOf(claim: WaitingClaim | HandoffClaim): Handoff | null {
  if (claim.phase === 'handing-off') return claim.handoff;
  return claim.then.kind === 'handoff' ? claim.then.handoff : null;
}

/** As after a run that ends well where no handoff state is set. */
function goOnWorking(draft: Draft, { issue, attempt, refusals, sessionId }: WaitingClaim | HandoffClaim): void {
  const then = { kind: 'run', trigger: 'continuation', reaction: null } as const;
  putWaiting(draft, {
    issue,
    attempt: attempt + 1,
    failures: 0,
    refusals,
    sessionId,
    delayMs: CONTINUATION_MS,
    error: '',
    then,
  });
}

/** What was made due while nobody led waits on as well. */
function keepWaiting(draft: Draft): void {
  for (const issueId of draft.state.endingElsewhere.keys()) {
    const claim = draft.state.claims.get(issueId);
    if (claim?.phase === 'waiting') putClaim(draft, claim);
  }
}

function requeue(draft: Draft, issueId: string, { delayMs, error }: { readonly delayMs: number; readonly error: string }): void {
  const claim = draft.state.claims.get(issueId);
  if (claim?.phase !== 'running') return;
  if (delayMs > 0) change(draft, { endingElsewhere: new Map(draft.state.endingElsewhere).set(issueId, draft.now + delayMs) });
  if (claim.stoppedBy !== null) return parkStopped(draft, { ...claim, stoppedBy: claim.stoppedBy });
  const { issue, attempt, failures, refusals, sessionId, reaction, trigger } = claim;
  // One that went on after a restart, and died again, may be what the service dies of: that counts.
  if (trigger !== 'restart') uncountSession(draft, issueId);
  putWaiting(draft, {
    issue,
    attempt: attempt + 1,
    failures,
    refusals,
    sessionId,
    delayMs,
    error,
    then: { kind: 'run', trigger: reaction === null ? 'restart' : trigger, reaction },
  });
}

/** The records as they are, with nothing running. */
export function rebuilt(
  settings: Settings,
  durable: Durable,
  instance: string,
  now: number,
  endingElsewhere: State['endingElsewhere'] = NOTHING_ELSEWHERE.endingElsewhere,
): State {
  return {
    settings,
    lifecycle: 'serving',
    elsewhere: 0,
    runSettings: new Map(),
    writeSettings: new Map(),
    judgedUnder: new Map(),
    awaitingEdit: new Map(),
    drainBy: null,
    startedAt: now,
    instance,
    runsStarted: 0,
    newsTold: 0,
    claims: new Map(durable.claims.map((claim) => [claim.issue.id, claim])),
    occupied: durable.claims.filter((claim) => holdsSlot(claim)).length,
    retriesFrom: earliestDue(durable.claims),
    parked: new Map(durable.parked.map((parked) => [parked.issue.id, parked])),
    outbox: new Map(durable.outbox.map((entry) => [entry.id, entry])),
    workspaces: new Map(durable.workspaces.map((workspace) => [workspace.path, workspace])),
    workspacePaths: pathsByIssue(durable.workspaces),
    spent: new Map(durable.spent.map((spent) => [spent.issueId, spent])),
    pauses: new Map(durable.pauses.map((pause) => [pause.agentKind, pause])),
    watches: new Map(durable.watches.map((watch) => [watch.issue.id, watch])),
    approvals: new Map(durable.approvals.map((approval) => [approval.issueId, approval])),
    operatorPause: durable.operatorPause,
    told: new Map(durable.told.map((told) => [told.subject, told])),
    live: new Map(),
    departed: new Map(),
    endingElsewhere,
    holds: new Map(),
    poll: firstPoll(now),
    quotas: new Map(),
    pending: {},
    outdated: {},
    preflightProblem: null,
    totals: NO_TOTALS,
    readings: new Map(),
    changedSinceLook: new Map(),
    unreadable: new Map(),
    accountUnknown: null,
    autoMergeOff: null,
  };
}

/** Due at once, with nothing known yet. */
function firstPoll(now: number): PollState {
  return {
    nextAt: now,
    refreshAt: null,
    inFlight: null,
    begunAt: 0,
    failures: 0,
    count: 0,
    blockersReadAt: new Map(),
    readInVainAt: new Map(),
    cleanupAt: now,
    queue: NO_QUEUE,
    postponed: null,
    pacedTo: null,
    waitsUntil: -Infinity,
    sweepAfter: '',
    unseenWaiting: new Set(),
    keptTold: new Map(),
    last: null,
  };
}

function pathsByIssue(workspaces: readonly WorkspaceRecord[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, readonly string[]>();
  for (const { issueId, path } of workspaces) paths.set(issueId, [...(paths.get(issueId) ?? []), path]);
  return paths;
}
