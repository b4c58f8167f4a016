import type { Draft } from '../draft.ts';
import { announce } from '../draft.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import type { Findings } from './findings.ts';
import { couldNotRead, escalate, isWorkedOn, progressOf, queueTurn, waitFor } from './progress.ts';

/**
 * Judges the current head at every look, also after green. The mark is the head that a fix turn was queued for, or the
 * head last seen.
 */
export function judgeCi(draft: Draft, watch: Watch, merge: MergeStatus, findings: Findings): void {
  const settings = draft.state.settings.reactions.ciFailure;
  const { ci } = findings;
  if (!settings || !ci) return;
  if (!ci.ok) return couldNotRead(draft, watch, 'ci_failure', ci.fault.message);
  // Until the run has said what it pushed, a new head could be anybody's.
  if (isWorkedOn(draft, watch)) return waitFor(draft, watch, 'ci_failure', 'the run under way to end');
  const epoch = epochOf(watch, merge.headSha);
  const report = ci.value;
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'ci_failure',
    result: report.status,
    detail: merge.headSha,
  });
  if (report.status === 'pending') return waitFor(draft, watch, 'ci_failure', 'CI to finish', epoch);
  if (report.status === 'success')
    return waitFor(draft, watch, 'ci_failure', 'the next push', { ...epoch, used: 0, escalated: false });
  if (epoch.mark === `fixing:${merge.headSha}`) return waitFor(draft, watch, 'ci_failure', 'a push that fixes CI', epoch);
  const progress = { ...progressOf(watch, 'ci_failure'), ...epoch };
  if (epoch.used >= settings.budget) {
    const why = `CI fails on ${merge.headSha.slice(0, 12)} after ${epoch.used} fix turns`;
    return escalate(draft, { ...watch, reactions: { ...watch.reactions, ci_failure: progress } }, 'ci_failure', why);
  }
  const { status, checkRuns, failingCount, logExcerpt, ref } = report;
  const context = { ciFailure: { status, checkRuns, failingCount, logExcerpt, ref } };
  queueTurn(draft, watch, 'ci_failure', context, { ...progress, mark: `fixing:${merge.headSha}` });
}

/** A new head may be asked about anew; one that we did not push ourselves also has a new budget. */
function epochOf(watch: Watch, headSha: string): Pick<ReactionProgress, 'mark' | 'used' | 'escalated'> {
  const { mark, used, escalated } = progressOf(watch, 'ci_failure');
  const lastHead = mark.slice(mark.indexOf(':') + 1);
  if (lastHead === headSha) return { mark, used, escalated };
  return { mark: `seen:${headSha}`, used: isOurPush(watch, headSha) ? used : 0, escalated: false };
}

/** A run may tell the head it pushed by the beginning of its name. */
function isOurPush({ mergeRequest }: Watch, headSha: string): boolean {
  const pushed = mergeRequest.sha.toLowerCase();
  return pushed !== '' && headSha.toLowerCase().startsWith(pushed);
}
