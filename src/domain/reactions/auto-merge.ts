import { ask } from '../pending-effects.ts';
import { announce, change, type Draft } from '../draft.ts';
import type { ParkReason } from '../model/claim.ts';
import { MERGE_STRATEGIES, type MergeStatus } from '../model/merge-request.ts';
import type { ReactionOptions } from '../model/reaction.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import type { Findings } from '../model/findings.ts';
import { ATTEMPTS, attemptsOn, type Attempts } from './merge-attempts.ts';
import { obstacleTo } from './merge-obstacle.ts';
import { READING, readingOf, SETTLE_MS, type MergeCase, type MergeReading } from './merge-reading.ts';
import { followSent } from './merge-sent.ts';
import { escalate, personFor } from './escalation.ts';
import { couldNotRead, isWorkedOn, progressOf, waitFor } from './progress.ts';
import { DAY_MS, type Declaration, type Look, type Reaction } from './reaction.ts';

const declaration = {
  kind: 'auto_merge',
  about: 'Merge a request that is approved and green.',
  defaults: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 2 },
  keys: {
    strategy: { type: 'choice', of: MERGE_STRATEGIES, default: 'squash', inBlock: true, about: 'How a request is merged.' },
    require_ci: { type: 'flag', default: true, inBlock: true, about: 'Merge only when CI succeeded or there is none.' },
    delete_branch: { type: 'flag', default: true, about: 'Delete the branch after the merge.' },
    dry_run: { type: 'flag', default: false, about: 'Only log what would be merged.' },
    ci_grace_ms: {
      type: 'number',
      min: 0,
      default: 60_000,
      about: 'With `require_ci`: how long a head must be seen without any check before it is merged; 0: no wait.',
    },
  },
  /**
   * waiting -> ready (one clean reading) -> merging (asked for) -> merged, or queued until the forge's own queue has merged
   * it (`missedAt`: when it was first seen outside of it) -> tidied (its branch was seen to). A refusal leads back to waiting
   * for a clean reading; `unsure`: the answer does not tell that nothing was merged, or will be. So does a merge that the forge
   * does not show long after it said yes. A head that is pushed meanwhile starts over.
   */
  marks: {
    waiting: { headSha: 'text', bareSince: 'number or null', ...ATTEMPTS },
    ready: { headSha: 'text', bareSince: 'number or null', decision: 'text', ...ATTEMPTS },
    merging: { headSha: 'text', seen: READING, ...ATTEMPTS },
    queued: { headSha: 'text', seen: READING, missedAt: 'number or absent' },
    refused: { headSha: 'text', seen: READING, unsure: 'flag', ...ATTEMPTS },
    merged: { headSha: 'text', since: 'number or absent' },
    tidied: {},
  },
  prompt: null,
} as const satisfies Declaration;

export const AUTO_MERGE: Reaction<typeof declaration> = {
  ...declaration,
  needs: ({ on }, watch) => [
    'scope',
    'decision',
    'self',
    ...(on.auto_merge?.requireCi ? (['ciStatus'] as const) : []),
    ...(progressOf(watch, 'auto_merge').mark.at === 'queued' ? (['queue'] as const) : []),
  ],
  judge: judgeAutoMerge,
};

type AutoMerge = ReactionOptions['auto_merge'];
type Progress = ReactionProgress<'auto_merge'>;
type Waiting = Progress & { readonly mark: Extract<Progress['mark'], { at: 'waiting' }> };
type Ready = Extract<Progress['mark'], { at: 'ready' }>;

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
  const ciStatus = settings.requireCi ? findings.ciStatus : NOT_ASKED;
  if (!decision?.ok) return couldNotRead(draft, watch, 'auto_merge', decision?.fault ?? { message: 'no review decision' });
  if (!ciStatus?.ok) return couldNotRead(draft, watch, 'auto_merge', ciStatus?.fault ?? { message: 'no CI status' });
  const facts = { settings, merge, findings, decision: decision.value, ci: ciStatus.value };
  if (!followSent(draft, watch, facts)) judgeReading(draft, watch, facts);
}

const NOT_ASKED = { ok: true, value: '' } as const;

function judgeReading(draft: Draft, watch: Watch, facts: MergeCase): void {
  const { settings, merge, decision, ci } = facts;
  const { headSha } = merge;
  const seen = readingOf(facts);
  const before = progressOf(watch, 'auto_merge');
  const progress = { ...before, ...budgetFor(before, headSha, seen) };
  const { used, escalated, mark } = progress;
  if (settings.requireCi && ci === 'failing-unseen') return askAboutUnseen(draft, watch, { headSha, seen, progress });
  const bareSince = settings.requireCi && ci === '' ? bareSinceOf(progress, headSha, draft.now) : null;
  const graceEnds = bareSince === null ? 0 : bareSince + settings.ciGraceMs;
  const obstacle = obstacleTo(settings, merge, decision, ci) ?? (graceEnds > draft.now ? 'checks to appear' : null);
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'auto_merge',
    result: obstacle === null ? 'ready' : 'waiting',
    detail: obstacle ?? headSha,
  });
  const attempts = before.escalated && !escalated ? {} : attemptsOn(headSha, mark, draft.now);
  if (escalated) return waitFor(draft, watch, 'auto_merge', personFor(before.asked?.why), { mark: withoutDoubt(mark, attempts) });
  const waiting = { at: 'waiting', headSha, bareSince, ...attempts } as const;
  if (obstacle === null) return mergeWhenSettled(draft, watch, facts, { ...progress, mark: waiting });
  const nextAt = draft.now + settings.pollIntervalMs;
  waitFor(draft, watch, 'auto_merge', obstacle, {
    used,
    escalated,
    mark: waiting,
    nextAt: graceEnds > draft.now ? Math.min(nextAt, graceEnds) : nextAt,
  });
}

const UNSEEN = 'a manual pipeline hides a failed job, which must be retried or allowed to fail';

function askAboutUnseen(draft: Draft, watch: Watch, { headSha, seen, progress }: Unseen): void {
  const known = { ...watch, reactions: { ...watch.reactions, auto_merge: progress } };
  const mark = { at: 'refused', headSha, seen, unsure: false } as const;
  escalate(draft, known, 'auto_merge', UNSEEN, { mark, used: progress.used });
}

interface Unseen {
  readonly headSha: string;
  readonly seen: MergeReading;
  readonly progress: Progress;
}

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
  { decision, ciStatus }: Findings,
): Partial<Progress> {
  const before = progressOf(watch, 'auto_merge');
  const ci = requireCi ? ciStatus : NOT_ASKED;
  if (!before.escalated || !decision?.ok || !ci?.ok) return {};
  const after = budgetFor(before, headSha, { decision: decision.value, mergeability, ci: ci.value });
  return after.escalated ? {} : { ...after, mark: { at: 'waiting', headSha, bareSince: null } };
}

/** Whoever merges it later is not us. */
function withoutDoubt(mark: Progress['mark'], { unsureSince }: Attempts): Progress['mark'] {
  return mark.at === 'refused' && unsureSince === undefined ? { ...mark, unsure: false } : mark;
}

/** Since when this head has been seen without a check. */
function bareSinceOf({ mark }: Progress, headSha: string, now: number): number {
  const known = (mark.at === 'waiting' || mark.at === 'ready') && mark.headSha === headSha ? mark.bareSince : null;
  return known ?? now;
}

/** What keeps us from judging at all. A run that is queued or goes on may push. */
function reasonToHold(draft: Draft, watch: Watch, findings: Findings): string | null {
  const off = draft.state.autoMergeOff ?? offFrom(draft, findings);
  return off ?? (isWorkedOn(draft, watch) ? 'the run under way to end' : reasonOfPark(draft, watch));
}

/** What a person stopped, or an agent left unfinished, is not merged before a person lets it go on. */
function reasonOfPark({ state }: Draft, { issue }: Watch): string | null {
  const parked = state.parked.get(issue.id);
  return parked && !MERGED_WHILE_PARKED.has(parked.reason) ? `the parked issue to be released (${parked.reason})` : null;
}

/** The work is done: a review is asked for, which approves the request; or another reaction asked for a person. */
const MERGED_WHILE_PARKED: ReadonlySet<ParkReason> = new Set(['needs_review', 'escalated']);

/** A credential that provably may not merge switches auto-merge off for the life of the process. */
function offFrom(draft: Draft, { scope }: Findings): string | null {
  if (!scope?.ok || scope.value.mayMerge !== 'no') return null;
  const why = `off for this process: ${scope.value.detail}`;
  change(draft, { autoMergeOff: why });
  announce(draft, 'reaction:merge:disabled', { why: scope.value.detail });
  return why;
}

function mergeWhenSettled(draft: Draft, watch: Watch, facts: MergeCase, { used, escalated, mark: waiting }: Waiting): void {
  const { settings, merge, decision } = facts;
  const { headSha } = merge;
  const ready = { ...waiting, at: 'ready', decision } as const;
  const { mark } = progressOf(watch, 'auto_merge');
  if (mark.at !== 'ready' || mark.headSha !== headSha || mark.decision !== decision) {
    const nextAt = draft.now + Math.min(SETTLE_MS, settings.pollIntervalMs);
    return waitFor(draft, watch, 'auto_merge', 'a second clean reading', { used, escalated, mark: ready, nextAt });
  }
  if (settings.dryRun) return onlyTell(draft, watch, settings, ready);
  const asked = ask(draft, {
    do: 'merge',
    issueId: watch.issue.id,
    request: watch.mergeRequest,
    order: { strategy: settings.strategy, expectedSha: headSha },
  });
  const merging = { at: 'merging', headSha, seen: readingOf(facts), ...attemptsOn(headSha, mark, draft.now) } as const;
  if (asked) waitFor(draft, watch, 'auto_merge', 'the merge to finish', { mark: merging });
}

/** Told once for a head. */
function onlyTell(draft: Draft, watch: Watch, { strategy }: AutoMerge, ready: Ready): void {
  const { headSha, told } = ready;
  const { issue, mergeRequest } = watch;
  if (told !== strategy) announce(draft, 'reaction:merge:would', { issue, number: mergeRequest.number, headSha, strategy });
  const what = `it would be merged now (${strategy} of ${headSha.slice(0, 12)}), but dry_run is on`;
  waitFor(draft, watch, 'auto_merge', `nothing: ${what}`, { mark: { ...ready, told: strategy } });
}
