import type { Draft } from '../draft.ts';
import { announce } from '../draft.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import { couldNotRead, escalate, isWorkedOn, progressOf, queueTurn, waitFor } from './progress.ts';
import type { Look, Reaction } from './reaction.ts';

export const CI_FAILURE: Reaction<'ci_failure'> = {
  kind: 'ci_failure',
  needs: ['ci'],
  prompt: { context: 'ciFailure', variable: 'ci_failure' },
  judge: judgeCi,
};

/** Judges the current head at every look, also after green. */
function judgeCi(draft: Draft, watch: Watch, { merge, findings: { ci } }: Look): void {
  const settings = draft.state.settings.reactions.on.ci_failure;
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
  if (epoch.mark.at === 'fixing') return waitFor(draft, watch, 'ci_failure', 'a push that fixes CI', epoch);
  const progress = { ...progressOf(watch, 'ci_failure'), ...epoch };
  if (epoch.used >= settings.budget) {
    const why = `CI fails on ${merge.headSha.slice(0, 12)} after ${epoch.used} fix turns`;
    return escalate(draft, { ...watch, reactions: { ...watch.reactions, ci_failure: progress } }, 'ci_failure', why);
  }
  const { status, checkRuns, failingCount, logExcerpt, ref } = report;
  const context = { ciFailure: { status, checkRuns, failingCount, logExcerpt, ref } };
  queueTurn(draft, watch, 'ci_failure', context, { ...progress, mark: { at: 'fixing', headSha: merge.headSha } });
}

type Epoch = Pick<ReactionProgress<'ci_failure'>, 'mark' | 'used' | 'escalated'>;

/** A new head may be asked about anew; one that we did not push ourselves also has a new budget. */
function epochOf(watch: Watch, headSha: string): Epoch {
  const { mark, used, escalated } = progressOf(watch, 'ci_failure');
  if (mark.at !== 'none' && mark.headSha === headSha) return { mark, used, escalated };
  return { mark: { at: 'seen', headSha }, used: isOurPush(watch, headSha) ? used : 0, escalated: false };
}

/** A run may tell the head it pushed by the beginning of its name. */
function isOurPush({ mergeRequest }: Watch, headSha: string): boolean {
  const pushed = mergeRequest.sha.toLowerCase();
  return pushed !== '' && headSha.toLowerCase().startsWith(pushed);
}
