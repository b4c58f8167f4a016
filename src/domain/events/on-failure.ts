import { liftsAt, pauseAgent } from './agent-pauses.ts';
import { backoffMs, cappedBackoffMs } from '../rules/backoff.ts';
import type { RunningClaim } from '../model/claim.ts';
import { announce, putWaiting, queueWrite, type Draft } from '../draft.ts';
import { isAgentErrorKind, type AgentErrorKind } from '../model/errors.ts';
import type { Fault } from '../model/fault.ts';
import type { IssueRef } from '../model/issue.ts';
import { settingsFor } from '../model/state.ts';
import { park } from './parking.ts';
import { uncountSession } from './spent.ts';

/**
 * Faults after which the conversation is worth going on with: it is whole, and only its last turn broke. A second
 * failure in a row begins a new one, in case the conversation itself is what breaks.
 */
const RESUMABLE_FAULTS: Readonly<Record<AgentErrorKind, boolean>> = {
  agent_not_found: false,
  agent_not_logged_in: false,
  agent_usage_limit: false,
  agent_refused: false,
  agent_needs_person: false,
  agent_protocol_error: true,
  agent_exited: true,
  agent_did_nothing: false,
  verification_failed: false,
  agent_no_evidence: false,
  turn_failed: true,
  turn_timeout: true,
  turn_stalled: true,
  turn_cancelled: false,
};

/** A failed run: the fault's class decides between waiting, pausing the agent and asking a person. */
export function onFailure(draft: Draft, issue: IssueRef, claim: RunningClaim, fault: Fault): void {
  const { agent, tracker } = settingsFor(draft.state, issue.id);
  const { maxAttempts, maxRetryBackoffMs, kind } = agent;
  // A limit is no failure of the issue: it only waits.
  if (tracker.comments.onFailure && fault.consequence !== 'pause-agent') {
    const text = `Foray's run ${claim.runId} on this issue failed: ${fault.kind}.`;
    queueWrite(draft, issue, `failure:${claim.runId}`, { kind: 'comment', text });
  }
  if (fault.consequence === 'park') {
    park(draft, issue, fault.kind === 'agent_refused' ? 'refused' : 'needs_person', fault.message);
    return;
  }
  if (fault.consequence === 'pause-agent') {
    const lifts = liftsAt(fault.resetsAt, draft.now);
    const { until } = pauseAgent(draft, { agentKind: kind, until: lifts, reason: fault.message });
    uncountSession(draft, issue.id);
    wait(draft, claim, {
      trigger: 'error',
      delayMs: until - draft.now,
      error: fault.message,
      keepSession: true,
      failures: claim.failures,
    });
    return;
  }
  const failures = claim.failures + 1;
  if (maxAttempts > 0 && failures >= maxAttempts) {
    park(
      draft,
      issue,
      'out_of_attempts',
      `${failures} of ${maxAttempts} attempts failed (agent.max_attempts); the last: ${fault.message}`,
    );
    return;
  }
  const awaitsEdit = fault.consequence === 'back-off-at-cap';
  const delay = awaitsEdit ? cappedBackoffMs : backoffMs;
  wait(draft, claim, {
    trigger: 'error',
    delayMs: delay(failures, maxRetryBackoffMs, issue.id),
    awaitsEdit,
    error: fault.message,
    keepSession: isAgentErrorKind(fault.kind) && RESUMABLE_FAULTS[fault.kind] && claim.failures % 2 === 0,
    failures,
  });
}

interface Waiting {
  readonly trigger: 'continuation' | 'restart' | 'error';
  readonly delayMs: number;
  readonly awaitsEdit?: boolean;
  readonly error: string;
  readonly keepSession: boolean;
  readonly failures: number;
}

/** Puts a claim into the retry queue. A reaction that failed keeps what it had to tell. */
export function wait(draft: Draft, claim: RunningClaim, waiting: Waiting): void {
  const { issue, refusals, reaction } = claim;
  const attempt = claim.attempt + 1;
  const trigger = reaction !== null && waiting.trigger !== 'continuation' ? claim.trigger : waiting.trigger;
  putWaiting(draft, {
    issue,
    attempt,
    failures: waiting.failures,
    refusals,
    sessionId: waiting.keepSession ? claim.sessionId : null,
    delayMs: waiting.delayMs,
    awaitsEdit: waiting.awaitsEdit,
    error: waiting.error,
    then: { kind: 'run', trigger, reaction: waiting.trigger === 'continuation' ? null : reaction },
  });
  announce(draft, 'retry:entry:scheduled', { issue, attempt, trigger, delayMs: waiting.delayMs, error: waiting.error });
}
