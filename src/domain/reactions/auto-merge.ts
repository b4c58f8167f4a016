import { announce, ask, change, settle, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import type { CiConclusion, MergeStatus, ReviewDecision } from '../model/merge-request.ts';
import type { ReactionOptions } from '../model/settings.ts';
import type { MergeReading, ReactionProgress, Watch } from '../model/watch.ts';
import type { Findings } from './findings.ts';
import { obstacleTo } from './merge-obstacle.ts';
import { couldNotRead, escalate, isWorkedOn, progressOf, waitFor } from './progress.ts';
import type { Look, Reaction } from './reaction.ts';

export const AUTO_MERGE: Reaction<'auto_merge'> = {
  kind: 'auto_merge',
  needs: ({ on }, watch) => [
    'scope',
    'decision',
    ...(on.auto_merge?.requireCi ? (['gate'] as const) : []),
    ...(progressOf(watch, 'auto_merge').mark.at === 'queued' ? (['queue'] as const) : []),
  ],
  prompt: null,
  judge: judgeAutoMerge,
};

/** A forge recomputes mergeability within a moment after a push or an approval: a first clean reading is looked at again after this. */
const SETTLE_MS = 2_000;

type AutoMerge = ReactionOptions['auto_merge'];
type Progress = ReactionProgress<'auto_merge'>;

/**
 * Fail-safe: every precondition must have been read and hold, twice in a row for the same head and decision, and the
 * merge itself carries the expected head. What is unknown is never clean.
 */
function judgeAutoMerge(draft: Draft, watch: Watch, { merge, findings }: Look): void {
  const settings = draft.state.settings.reactions.on.auto_merge;
  if (!settings) return;
  const hold = reasonToHold(draft, watch, findings);
  if (hold !== null) return waitFor(draft, watch, 'auto_merge', hold, endedEscalation(watch, settings, merge, findings));
  const { decision } = findings;
  const gate = settings.requireCi ? findings.gate : NOT_ASKED;
  if (!decision?.ok) return couldNotRead(draft, watch, 'auto_merge', decision?.fault.message ?? 'no review decision');
  if (!gate?.ok) return couldNotRead(draft, watch, 'auto_merge', gate?.fault.message ?? 'no CI status');
  judgeReading(draft, watch, { settings, merge, findings, decision: decision.value, ci: gate.value });
}

const NOT_ASKED = { ok: true, value: '' } as const;

/** Everything that a merge is decided upon. */
interface Case {
  readonly settings: AutoMerge;
  readonly merge: MergeStatus;
  readonly findings: Findings;
  readonly decision: ReviewDecision;
  readonly ci: CiConclusion;
}

function judgeReading(draft: Draft, watch: Watch, facts: Case): void {
  const { settings, merge, decision, ci } = facts;
  const { headSha, mergeability } = merge;
  const seen: MergeReading = { decision, mergeability, ci };
  const before = progressOf(watch, 'auto_merge');
  const progress = { ...before, ...budgetFor(before, headSha, seen) };
  const { used, escalated, mark } = progress;
  if (mark.at === 'queued' && mark.headSha === headSha) return followQueue(draft, watch, facts);
  if (settings.requireCi && ci === 'failing-unseen') {
    const refused = { at: 'refused', headSha, seen, unsure: false } as const;
    return escalate(draft, { ...watch, reactions: { ...watch.reactions, auto_merge: progress } }, 'auto_merge', UNSEEN, {
      mark: refused,
      used,
    });
  }
  const bareSince = settings.requireCi && ci === '' ? bareSinceOf(progress, headSha, draft.now) : null;
  const graceEnds = bareSince === null ? 0 : bareSince + settings.ciGraceMs;
  const obstacle = obstacleTo(settings, merge, decision, ci) ?? (graceEnds > draft.now ? 'checks to appear' : null);
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'auto_merge',
    result: obstacle === null ? 'ready' : 'waiting',
    detail: obstacle ?? headSha,
  });
  if (escalated) return waitFor(draft, watch, 'auto_merge', before.escalated ? before.waitingFor : 'a person');
  if (obstacle === null)
    return mergeWhenSettled(draft, watch, facts, { ...progress, mark: { at: 'waiting', headSha, bareSince } });
  const nextAt = draft.now + settings.pollIntervalMs;
  waitFor(draft, watch, 'auto_merge', obstacle, {
    used,
    escalated,
    mark: { at: 'waiting', headSha, bareSince },
    nextAt: graceEnds > draft.now ? Math.min(nextAt, graceEnds) : nextAt,
  });
}

const UNSEEN = 'a manual pipeline hides a failed job, which must be retried or allowed to fail';

/** Refusals are counted for a head. One that a person was asked about counts no longer once what it was tried on has changed. */
function budgetFor(
  { mark, used, escalated }: Progress,
  headSha: string,
  { decision, mergeability, ci }: MergeReading,
): Pick<Progress, 'used' | 'escalated'> {
  const isKnown = headSha !== '' && 'headSha' in mark && mark.headSha === headSha;
  if (!isKnown) return { used: 0, escalated: false };
  if (!escalated || mark.at !== 'refused' || mergeability === 'unknown') return { used, escalated };
  const { seen } = mark;
  const isSame = seen.decision === decision && seen.mergeability === mergeability && seen.ci === ci;
  return isSame ? { used, escalated } : { used: 0, escalated: false };
}

/** What was changed while nothing may be merged has changed all the same: a refusal that it ends is not waited for any longer. */
function endedEscalation(
  watch: Watch,
  { requireCi }: AutoMerge,
  { headSha, mergeability }: MergeStatus,
  { decision, gate }: Findings,
): Partial<Progress> {
  const before = progressOf(watch, 'auto_merge');
  const ci = requireCi ? gate : NOT_ASKED;
  if (!before.escalated || !decision?.ok || !ci?.ok) return {};
  const after = budgetFor(before, headSha, { decision: decision.value, mergeability, ci: ci.value });
  return after.escalated ? {} : { ...after, mark: { at: 'waiting', headSha, bareSince: null } };
}

/** Since when this head has been seen without a check. */
function bareSinceOf({ mark }: Progress, headSha: string, now: number): number {
  const known = (mark.at === 'waiting' || mark.at === 'ready') && mark.headSha === headSha ? mark.bareSince : null;
  return known ?? now;
}

/** What keeps us from judging at all. A run that is queued or goes on may push. */
function reasonToHold(draft: Draft, watch: Watch, findings: Findings): string | null {
  const off = draft.state.autoMergeOff ?? offFrom(draft, findings);
  return off ?? (isWorkedOn(draft, watch) ? 'the run under way to end' : null);
}

/** A credential that provably may not merge switches auto-merge off for the life of the process. */
function offFrom(draft: Draft, { scope }: Findings): string | null {
  if (!scope?.ok || scope.value.mayMerge !== 'no') return null;
  const why = `off for this process: ${scope.value.detail}`;
  change(draft, { autoMergeOff: why });
  announce(draft, 'reaction:merge:disabled', { why: scope.value.detail });
  return why;
}

function mergeWhenSettled(draft: Draft, watch: Watch, facts: Case, progress: Progress): void {
  const { settings, merge, decision, ci } = facts;
  const { headSha, mergeability } = merge;
  const { used, escalated, mark: waiting } = progress;
  const bareSince = waiting.at === 'waiting' ? waiting.bareSince : null;
  const ready = { at: 'ready', headSha, decision, bareSince } as const;
  const { mark } = progressOf(watch, 'auto_merge');
  if (mark.at !== 'ready' || mark.headSha !== headSha || mark.decision !== decision) {
    const nextAt = draft.now + Math.min(SETTLE_MS, settings.pollIntervalMs);
    return waitFor(draft, watch, 'auto_merge', 'a second clean reading', { used, escalated, mark: ready, nextAt });
  }
  if (settings.dryRun) return onlyTell(draft, watch, settings, headSha);
  const asked = ask(draft, {
    do: 'merge',
    issueId: watch.issue.id,
    request: watch.mergeRequest,
    order: { strategy: settings.strategy, expectedSha: headSha },
  });
  const seen = { decision, mergeability, ci };
  if (asked) waitFor(draft, watch, 'auto_merge', 'the merge to finish', { mark: { at: 'merging', headSha, seen } });
}

function onlyTell(draft: Draft, watch: Watch, { strategy }: AutoMerge, headSha: string): void {
  announce(draft, 'reaction:merge:would', { issue: watch.issue, number: watch.mergeRequest.number, headSha, strategy });
  const what = `it would be merged now (${strategy} of ${headSha.slice(0, 12)}), but dry_run is on`;
  waitFor(draft, watch, 'auto_merge', `nothing: ${what}`);
}

/** The forge's queue merges when its turn comes. A request that is no longer in it was refused. */
function followQueue(draft: Draft, watch: Watch, { findings: { queue }, settings, merge }: Case): void {
  if (!queue?.ok) return couldNotRead(draft, watch, 'auto_merge', queue?.fault.message ?? 'no answer about the merge queue');
  if (queue.value) return waitFor(draft, watch, 'auto_merge', 'the merge queue of the forge');
  onRefused(draft, watch, settings, {
    headSha: merge.headSha,
    why: 'it left the merge queue unmerged',
    isFinal: false,
    unsure: false,
  });
}

export function onMergeAnswered(draft: Draft, event: Extract<Event, { type: 'merge-answered' }>): void {
  settle(draft, 'merge', event.issueId);
  const watch = draft.state.watches.get(event.issueId);
  const settings = draft.state.settings.reactions.on.auto_merge;
  if (!watch || !settings) return;
  const { outcome, expectedSha: headSha } = event;
  const { number } = watch.mergeRequest;
  switch (outcome.kind) {
    case 'merged':
      announce(draft, 'reaction:merge:succeeded', { issue: watch.issue, number, headSha, byUs: outcome.byUs });
      waitFor(draft, watch, 'auto_merge', settings.deleteBranch ? 'the branch to be deleted' : 'nothing', {
        mark: { at: 'merged', headSha },
        nextAt: draft.now,
      });
      return;
    case 'queued':
      announce(draft, 'reaction:merge:queued', { issue: watch.issue, number, headSha });
      waitFor(draft, watch, 'auto_merge', 'the merge queue of the forge', {
        mark: { at: 'queued', headSha, seen: seenBy(watch) },
      });
      return;
    case 'postponed':
      // What was waited for before the try need not be waited for again.
      waitFor(draft, watch, 'auto_merge', `the forge, which asks to come again: ${outcome.why}`, {
        mark: { at: 'waiting', headSha, bareSince: 0 },
      });
      return;
    case 'refused': {
      const { fault, unsure } = outcome;
      const isFinal = fault.kind === 'tracker_auth_error' || fault.kind === 'tracker_payload_error';
      onRefused(draft, watch, settings, { headSha, why: fault.message, isFinal, unsure });
    }
  }
}

interface MergeRefusal {
  readonly headSha: string;
  readonly why: string;
  /** Trying again cannot help. */
  readonly isFinal: boolean;
  readonly unsure: boolean;
}

function onRefused(draft: Draft, watch: Watch, settings: AutoMerge, { headSha, why, isFinal, unsure }: MergeRefusal): void {
  const used = progressOf(watch, 'auto_merge').used + 1;
  announce(draft, 'reaction:merge:failed', { issue: watch.issue, number: watch.mergeRequest.number, error: why });
  const mark = { at: 'refused', headSha, seen: seenBy(watch), unsure } as const;
  if (isFinal) return escalate(draft, watch, 'auto_merge', why, { mark, used });
  if (used < settings.budget) return waitFor(draft, watch, 'auto_merge', `another try after: ${why}`, { mark, used });
  const count = used === 1 ? 'the merge was refused' : `${used} merges were refused; the last`;
  escalate(draft, watch, 'auto_merge', `${count}: ${why}`, { mark, used });
}

/** What the merge under way was tried on. */
function seenBy(watch: Watch): MergeReading {
  const { mark } = progressOf(watch, 'auto_merge');
  return 'seen' in mark ? mark.seen : { decision: '', mergeability: '', ci: '' };
}
