import type { Draft } from '../draft.ts';
import { announce } from '../draft.ts';
import type { CiReport } from '../model/merge-request.ts';
import type { ReactionContext } from '../model/reaction.ts';
import type { Watch } from '../model/watch.ts';
import { couldNotRead, isWorkedOn, progressOf, waitFor } from './progress.ts';
import { DAY_MS, type Declaration, type Look, type Reaction } from './reaction.ts';
import { outOfTurns, queueTurn } from './turns.ts';

const declaration = {
  kind: 'ci_failure',
  about: 'Have the agent mend a merge request whose CI failed.',
  defaults: { pollIntervalMs: 60_000, watchWindowMs: DAY_MS, budget: 2 },
  keys: {
    max_log_lines: {
      type: 'number',
      min: -Number.MAX_SAFE_INTEGER,
      default: 50,
      inBlock: true,
      about: 'Lines of the failing log shown to the agent; 0 or less: none.',
    },
  },
  // The head last seen, or the one that a fix turn was queued for.
  marks: { seen: { headSha: 'text' }, fixing: { headSha: 'text' } },
  prompt: {
    variable: 'ci_failure',
    shape: {
      status: 'text',
      checkRuns: [{ name: 'text', status: 'text', conclusion: 'text', detailsUrl: 'text' }],
      failingCount: 'number',
      // Empty when the log was not read.
      logExcerpt: 'text',
      // The ref that was asked for, never the commit it resolved to.
      ref: 'text',
    },
    paragraph:
      'CI failed on your merge request ({{ .ci_failure.failing_count }} checks). The facts as JSON data: {{ .ci_failure | toJSON }}. Find the cause, fix it, commit and push to the same branch.',
  },
} as const satisfies Declaration;

export const CI_FAILURE: Reaction<typeof declaration> = {
  ...declaration,
  needs: () => ['ci'],
  judge: judgeCi,
  renew: stillFailing,
  // A person is asked once per head. Only a head that somebody else pushed has a new budget.
  onNewHead: (progress, byUs) => ({ ...progress, escalated: false, ...(byUs ? {} : { used: 0, restored: false }) }),
  onRunEnded: (mark) => (mark.at === 'fixing' ? { ...mark, at: 'seen' } : mark),
};

/** What is left of a queued turn: nothing once CI passed or somebody pushed. */
function stillFailing(
  _draft: Draft,
  watch: Watch,
  { merge: { headSha }, findings: { ci } }: Look,
  queued: ReactionContext,
): ReactionContext | 'unread' | null {
  const { mark } = progressOf(watch, 'ci_failure');
  if (mark.at === 'fixing' && headSha !== '' && mark.headSha !== headSha) return null;
  if (!ci?.ok) return 'unread';
  if (ci.value.status === 'pending') return queued;
  return ci.value.status === 'success' ? null : { ...queued, ciFailure: failureOf(ci.value) };
}

function failureOf({ status, checkRuns, failingCount, logExcerpt, ref }: CiReport): NonNullable<ReactionContext['ciFailure']> {
  return { status, checkRuns, failingCount, logExcerpt, ref };
}

/** Judges the current head at every look, also after green. */
function judgeCi(draft: Draft, watch: Watch, { merge: { headSha }, findings: { ci } }: Look): void {
  const settings = draft.state.settings.reactions.on.ci_failure;
  if (!settings || !ci) return;
  if (!ci.ok) return couldNotRead(draft, watch, 'ci_failure', ci.fault);
  // Until the run has ended, a new head could be anybody's.
  if (isWorkedOn(draft, watch)) return waitFor(draft, watch, 'ci_failure', 'the run under way to end');
  const { status } = ci.value;
  announce(draft, 'reaction:check:completed', { issue: watch.issue, kind: 'ci_failure', result: status, detail: headSha });
  if (status === 'pending') return waitFor(draft, watch, 'ci_failure', 'CI to finish');
  if (status === 'success') return waitFor(draft, watch, 'ci_failure', 'the next push');
  const progress = progressOf(watch, 'ci_failure');
  const { mark, used } = progress;
  if (mark.at === 'fixing' && mark.headSha === headSha) return waitFor(draft, watch, 'ci_failure', 'a push that fixes CI');
  if (used >= settings.budget) {
    return outOfTurns(draft, watch, 'ci_failure', `CI fails on ${headSha.slice(0, 12)} after ${used} fix turns`);
  }
  queueTurn(draft, watch, 'ci_failure', { ciFailure: failureOf(ci.value) }, { ...progress, mark: { at: 'fixing', headSha } });
}
