import type { Draft } from '../draft.ts';
import { announce } from '../draft.ts';
import type { Watch } from '../model/watch.ts';
import { couldNotRead, escalate, isWorkedOn, progressOf, queueTurn, waitFor } from './progress.ts';
import type { Look, Reaction } from './reaction.ts';

export const CI_FAILURE: Reaction<'ci_failure'> = {
  kind: 'ci_failure',
  needs: () => ['ci'],
  prompt: { context: 'ciFailure', variable: 'ci_failure' },
  judge: judgeCi,
  // A person is asked once per head. Only a head that somebody else pushed has a new budget.
  onNewHead: (progress, byUs) => ({ ...progress, escalated: false, ...(byUs ? {} : { used: 0, restored: false }) }),
};

/** Judges the current head at every look, also after green. */
function judgeCi(draft: Draft, watch: Watch, { merge: { headSha }, findings: { ci } }: Look): void {
  const settings = draft.state.settings.reactions.on.ci_failure;
  if (!settings || !ci) return;
  if (!ci.ok) return couldNotRead(draft, watch, 'ci_failure', ci.fault.message);
  // Until the run has ended, a new head could be anybody's.
  if (isWorkedOn(draft, watch)) return waitFor(draft, watch, 'ci_failure', 'the run under way to end');
  const { status, checkRuns, failingCount, logExcerpt, ref } = ci.value;
  announce(draft, 'reaction:check:completed', { issue: watch.issue, kind: 'ci_failure', result: status, detail: headSha });
  if (status === 'pending') return waitFor(draft, watch, 'ci_failure', 'CI to finish');
  if (status === 'success') return waitFor(draft, watch, 'ci_failure', 'the next push');
  const progress = progressOf(watch, 'ci_failure');
  const { mark, used } = progress;
  if (mark.at === 'fixing' && mark.headSha === headSha) return waitFor(draft, watch, 'ci_failure', 'a push that fixes CI');
  if (used >= settings.budget) {
    return escalate(draft, watch, 'ci_failure', `CI fails on ${headSha.slice(0, 12)} after ${used} fix turns`);
  }
  const context = { ciFailure: { status, checkRuns, failingCount, logExcerpt, ref } };
  queueTurn(draft, watch, 'ci_failure', context, { ...progress, mark: { at: 'fixing', headSha } });
}
