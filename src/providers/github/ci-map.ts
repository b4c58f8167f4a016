import type { CheckRun } from '../../ports/ci.ts';
import type { WireCheckRun, WireStatus } from './scm-schema.ts';

type Reading = Pick<CheckRun, 'status' | 'conclusion'>;

/** How far a check run that has no conclusion yet has come. */
export const RUN_STATUSES: ReadonlyMap<string, Reading> = new Map([
  ['queued', { status: 'queued', conclusion: 'pending' }],
  ['waiting', { status: 'queued', conclusion: 'pending' }],
  ['requested', { status: 'queued', conclusion: 'pending' }],
  ['pending', { status: 'queued', conclusion: 'pending' }],
  ['in_progress', { status: 'in progress', conclusion: 'pending' }],
]);

/** What the conclusion of a completed check run means. What the remote gave up waiting for has not ended. */
export const CONCLUSIONS: ReadonlyMap<string, Reading> = new Map([
  ['success', { status: 'completed', conclusion: 'success' }],
  ['failure', { status: 'completed', conclusion: 'failure' }],
  ['timed_out', { status: 'completed', conclusion: 'failure' }],
  ['action_required', { status: 'completed', conclusion: 'failure' }],
  ['startup_failure', { status: 'completed', conclusion: 'failure' }],
  ['neutral', { status: 'completed', conclusion: 'neutral' }],
  ['skipped', { status: 'completed', conclusion: 'skipped' }],
  ['cancelled', { status: 'completed', conclusion: 'cancelled' }],
  ['stale', { status: 'in progress', conclusion: 'pending' }],
]);

/** What a legacy commit status means. */
export const COMMIT_STATES: ReadonlyMap<string, Reading> = new Map([
  ['success', { status: 'completed', conclusion: 'success' }],
  ['failure', { status: 'completed', conclusion: 'failure' }],
  ['error', { status: 'completed', conclusion: 'failure' }],
  ['pending', { status: 'in progress', conclusion: 'pending' }],
]);

/** A word nobody knows must not let a merge through, so that it is waited for. */
const UNKNOWN: Reading = { status: 'in progress', conclusion: 'pending' };

/** A check of a commit, from either of the two sources. */
export interface CommitCheck {
  readonly run: CheckRun;
  /** The job whose log can be read. */
  readonly jobId: string | null;
  /** What it says of itself. */
  readonly says: string;
  /** The word that was not recognized, if any. */
  readonly unknown: string | null;
}

export function checkOfRun(run: WireCheckRun): CommitCheck {
  const isDone = run.status.toLowerCase() === 'completed';
  const word = (isDone ? run.conclusion : run.status).toLowerCase();
  const reading = (isDone ? CONCLUSIONS : RUN_STATUSES).get(word);
  const { title = '', summary = '', text = '' } = run.output ?? {};
  return {
    run: { name: run.name, ...(reading ?? UNKNOWN), detailsUrl: run.details_url || run.html_url },
    // Only there the two numbers are the same.
    jobId: run.app?.slug === 'github-actions' ? run.id : null,
    says: [title, summary, text].filter((part) => part.trim() !== '').join('\n'),
    unknown: reading ? null : word,
  };
}

export function checkOfStatus({ context, state, description, target_url }: WireStatus): CommitCheck {
  const word = state.toLowerCase();
  const reading = COMMIT_STATES.get(word);
  return {
    run: { name: context, ...(reading ?? UNKNOWN), detailsUrl: target_url },
    jobId: null,
    says: [description, target_url].filter((part) => part.trim() !== '').join('\n'),
    unknown: reading ? null : word,
  };
}
