import { TrackerError } from '../../domain/model/errors.ts';
import type { WireCheckRun, WireWorkflowRun } from './scm-schema.ts';

/** The app of the remote's own CI: only there the runs of a workflow tell which one came later. */
export const ACTIONS = 'github-actions';

/**
 * Without the check runs of a workflow's run after which a later run of the same workflow gave one of the same name. The remote
 * lists both where the later run is another suite, as after a request was closed and opened again. The runs of the workflows are
 * read only where a name is repeated; where they cannot be, everything counts.
 */
export async function withoutSuperseded(
  runs: readonly WireCheckRun[],
  readWorkflowRuns: (headSha: string) => Promise<readonly WireWorkflowRun[]>,
): Promise<readonly WireCheckRun[]> {
  const namesakes = byName(runs);
  const repeatsOf = (run: WireCheckRun) => (namesakes.get(run.name) ?? []).filter((other) => isRepeatedBy(run, other));
  const repeated = runs.find((run) => repeatsOf(run).length > 0);
  if (repeated === undefined) return runs;
  try {
    const suites = new Map((await readWorkflowRuns(repeated.head_sha)).map((run) => [run.check_suite_id, run]));
    const runOf = (run: WireCheckRun) => suites.get(suiteOf(run));
    return runs.filter((run) => !repeatsOf(run).some((other) => isDecided(other) && isOlder(runOf(run), runOf(other))));
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    return runs;
  }
}

function byName(runs: readonly WireCheckRun[]): ReadonlyMap<string, readonly WireCheckRun[]> {
  const groups = new Map<string, WireCheckRun[]>();
  for (const run of runs) {
    const group = groups.get(run.name);
    if (group) group.push(run);
    else groups.set(run.name, [run]);
  }
  return groups;
}

/** The same of the runs of workflows themselves. */
export function withoutOlder(runs: readonly WireWorkflowRun[]): readonly WireWorkflowRun[] {
  return runs.filter((run) => !runs.some((other) => isDecided(other) && isOlder(run, other)));
}

function isRepeatedBy(one: WireCheckRun, other: WireCheckRun): boolean {
  const isOfActions = one.app?.slug === ACTIONS && other.app?.slug === ACTIONS;
  return isOfActions && suiteOf(one) !== suiteOf(other);
}

function suiteOf({ check_suite: suite }: WireCheckRun): string | null {
  return suite?.id ?? null;
}

/** A job that a later run did not try, or not to its end, says nothing: what it came to before counts. */
function isDecided({ conclusion }: Pick<WireCheckRun, 'conclusion'>): boolean {
  return !UNDECIDED.has(conclusion.toLowerCase());
}

const UNDECIDED: ReadonlySet<string> = new Set(['skipped', 'cancelled', 'stale']);

/**
 * Two workflows may have a job of the same name: one never speaks for the other, nor for the same on another branch. Of two
 * requests with one head each is tried with its own base: where there may be two, neither speaks for the other.
 */
function isOlder(one: WireWorkflowRun | undefined, other: WireWorkflowRun | undefined): boolean {
  if (!one?.workflow_id || !other?.workflow_id || one.run_number === null || other.run_number === null) return false;
  if (one.pull_requests === null || other.pull_requests === null) return false;
  const requests = new Set([...one.pull_requests, ...other.pull_requests].map(({ number }) => number));
  const isSame = requests.size <= 1 && ORIGIN.every((field) => one[field] === other[field]);
  return isSame && one.run_number < other.run_number;
}

const ORIGIN = ['workflow_id', 'event', 'head_branch', 'head_sha'] as const;
