import type { Settings } from '../model/settings.ts';
import { settingsFor } from '../model/state.ts';
import { backoffMs, cappedBackoffMs, CONTINUATION_MS } from '../rules/backoff.ts';
import type { HandoffClaim, WaitingClaim } from '../model/claim.ts';
import { removeWorkspaceOf } from '../workspace-records.ts';
import { settle } from '../pending-effects.ts';
import { announce, dropDeparted, dropWatch, putWaiting, queueWrite, release, type Draft } from '../draft.ts';
import type { Fault } from '../model/fault.ts';
import type { Event } from '../model/event.ts';
import { refIn } from '../model/issue.ts';

/** The tracker's answer to a handoff. Until it has one, the claim stays and the handoff is tried again. */
export function onHandoffAnswered(draft: Draft, event: Extract<Event, { type: 'handoff-answered' }>): void {
  settle(draft, 'hand-off', event.issueId);
  dropDeparted(draft, event.issueId);
  const claim = draft.state.claims.get(event.issueId);
  if (claim?.phase !== 'handing-off' || claim.handoff.runId !== event.runId) return;
  const { issue, handoff } = claim;
  const { outcome } = event;
  switch (outcome.kind) {
    case 'succeeded':
      announce(draft, 'handoff:transition:succeeded', { issue, state: handoff.target });
      commentCompletion(draft, claim, settingsFor(draft.state, issue.id));
      release(draft, { ...issue, state: handoff.target }, 'handed off');
      return;
    case 'moved':
      skip(draft, claim, outcome.state, `the issue moved to "${outcome.state}" meanwhile`);
      return;
    case 'gone':
      skip(draft, claim, '', 'the tracker no longer has the issue');
      return;
    case 'terminal':
      skip(draft, claim, outcome.state, `the issue is terminal ("${outcome.state}")`);
      dropWatch(draft, issue.id);
      removeWorkspaceOf(draft, issue, 'the issue is terminal');
      return;
    case 'failed':
      if (outcome.fault.kind === 'tracker_auth_error') onRefused(draft, claim, outcome.fault);
      else tryAgain(draft, claim, outcome.fault);
      return;
  }
}

function skip(draft: Draft, claim: HandoffClaim, state: string, reason: string): void {
  announce(draft, 'handoff:transition:skipped', { issue: claim.issue, state: claim.handoff.target, reason });
  release(draft, refIn(claim.issue, state), reason);
}

function commentCompletion(draft: Draft, claim: HandoffClaim, settings: Settings): void {
  if (!settings.tracker.comments.onCompletion) return;
  const text = `Foray finished its work on this issue and moved it to "${claim.handoff.target}" (run ${claim.handoff.runId}).`;
  queueWrite(draft, claim.issue, `completion:${claim.handoff.runId}`, { kind: 'comment', text });
}

/**
 * We may not write: not fatal, the work goes on as a continuation. Each further refusal in a row waits longer, since
 * every continuation costs a session that ends at the same refusal.
 */
function onRefused(draft: Draft, claim: HandoffClaim, fault: Fault): void {
  const { issue, handoff } = claim;
  const refusals = claim.refusals + 1;
  const cap = draft.state.settings.agent.maxRetryBackoffMs;
  const delayMs = refusals === 1 ? CONTINUATION_MS : backoffMs(refusals - 1, cap, issue.id);
  announce(draft, 'handoff:transition:refused', { issue, state: handoff.target, error: fault.message });
  const then = { kind: 'run', trigger: 'continuation', reaction: null } as const;
  wait(draft, claim, { failures: 0, refusals, delayMs, error: fault.message, then });
}

/** The run is done and stays done: only the handoff is tried again. */
function tryAgain(draft: Draft, claim: HandoffClaim, fault: Fault): void {
  const { issue, handoff, refusals } = claim;
  const failures = claim.failures + 1;
  const awaitsEdit = fault.consequence === 'back-off-at-cap';
  const delay = awaitsEdit ? cappedBackoffMs : backoffMs;
  const delayMs = delay(failures, draft.state.settings.agent.maxRetryBackoffMs, issue.id);
  announce(draft, 'handoff:transition:failed', { issue, state: handoff.target, error: fault.message });
  wait(draft, claim, { failures, refusals, delayMs, awaitsEdit, error: fault.message, then: { kind: 'handoff', handoff } });
}

type Wait = Pick<WaitingClaim, 'failures' | 'refusals' | 'error' | 'then'> & {
  readonly delayMs: number;
  readonly awaitsEdit?: boolean;
};

function wait(draft: Draft, { issue, attempt: before, sessionId }: HandoffClaim, next: Wait): void {
  const attempt = before + 1;
  putWaiting(draft, { issue, attempt, sessionId, ...next });
  const trigger = next.then.kind === 'handoff' ? 'handoff' : next.then.trigger;
  announce(draft, 'retry:entry:scheduled', { issue, attempt, trigger, delayMs: next.delayMs, error: next.error });
}
