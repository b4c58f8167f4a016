import { withPosition } from '../../config/document.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { sameState, type Issue } from '../../domain/model/issue.ts';
import type { Settings, TrackerSettings } from '../../domain/model/settings.ts';
import type { Board, Provider, ProviderDeps } from '../../ports/provider.ts';
import { loadProvider } from '../../providers/registry.ts';
import { providerDeps, readBoardOrIssues } from '../adapters/board.ts';
import { accessRemedy } from '../adapters/access-remedy.ts';
import { checkClock } from './machine.ts';
import { finding, ok, type Finding } from './finding.ts';
import { checkRights } from './rights.ts';
import {
  labelsNamed,
  missingState,
  placeOfName,
  placeOfStates,
  statesNamed,
  wordFor,
  type NamedLabel,
  type NamedState,
} from '../adapters/named-states.ts';
import { ANYONE_REMEDY, publicProblem } from '../adapters/public-project.ts';
import type { RequestMeter } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import type { SurveyDeps } from '../commands/survey.ts';
import type { GoodWorkflow } from '../workflow.ts';
import { errorText } from '../../lib/error-text.ts';

/** Access to the tracker, then every state and label that the workflow file names. */
export async function diagnoseTracker(
  workflow: GoodWorkflow,
  deps: SurveyDeps,
  { fix }: { readonly fix: boolean },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { tracker } = workflow.settings;
  const provider = await loadProvider(tracker.kind);
  const clock = createClockReading();
  const boardDeps = providerDeps(workflow.path, { ...deps, meter: clock.meter });
  try {
    const remote = provider.createTracker(tracker, boardDeps);
    await remote.preflight?.(signal);
    const facts = (await remote.describeProject?.(signal)) ?? null;
    const warning = publicProblem(tracker, provider, facts);
    const board = await readBoardOrIssues(tracker, boardDeps, signal);
    const access = ok(
      'tracker.access',
      `${[tracker.name, tracker.project].filter((part) => part !== '').join(' ')} can be read: ${board.states.length} ${board.what}`,
    );
    const mend = fix ? fixer(provider, tracker, boardDeps, signal) : null;
    const states = await Promise.all(
      statesNamed(workflow.settings).map(async (state) => placed(await checkName(state, board, mend), workflow, state)),
    );
    const labels = board.what === 'labels' ? labelsNamed(workflow.settings) : [];
    const otherLabels = await Promise.all(
      labels.map(async (label) => placed(await checkLabel(label, board, mend), workflow, label)),
    );
    const rights = await checkRights(remote, facts, workflow.settings, signal);
    const moves = await checkMoves(remote, workflow.settings, signal);
    return [
      access,
      ...(facts?.isRenamed ? [renamed(tracker.project, facts.path)] : []),
      ...rights,
      ...states,
      ...otherLabels,
      ...moves,
      ...checkClock(Date.now(), clock.told()),
      ...(warning ? [finding('warning', warning.check, warning.message, ANYONE_REMEDY)] : []),
    ];
  } catch (error) {
    signal.throwIfAborted();
    const message = errorText(error);
    const place = error instanceof TrackerError ? placeOfStates(workflow, error.unknownStates) : null;
    const refused = finding('error', 'tracker.access', withPosition(message, place), accessRemedy(error));
    return [place === null ? refused : { ...refused, file: workflow.path, ...place }];
  }
}

function renamed(project: string, path: string): Finding {
  const message = `${project} has the path ${path} by now: it can be read, and every write is refused`;
  return finding('error', 'tracker.project', message, `set tracker.project to ${path}`);
}

/** What is wrong with a name is said with its place in the workflow file. */
function placed(found: Finding, workflow: GoodWorkflow, name: NamedState | NamedLabel): Finding {
  const place = placeOfName(workflow, name);
  if (found.status === 'ok' || found.status === 'fixed' || place === null) return found;
  return { ...found, message: withPosition(found.message, place), file: workflow.path, ...place };
}

/** Hears what time it is where the tracker is. */
function createClockReading(): { readonly meter: RequestMeter; told(): number | null } {
  let told: number | null = null;
  const dated = (at: number): void => {
    if (!Number.isNaN(at)) told ??= at;
  };
  return { meter: { made: () => {}, left: () => {}, dated }, told: () => told };
}

/** Whether a workflow lets issues go where runs would move them, seen at one issue of each active state. */
async function checkMoves(remote: Tracker, settings: Settings, signal: AbortSignal): Promise<readonly Finding[]> {
  const moves = statesNamed(settings).filter(({ key }) => MOVED_FROM_ACTIVE.has(key));
  if (!remote.readMoves || moves.length === 0) return [];
  const samples = new Map((await remote.fetchCandidateIssues(signal)).map((issue) => [issue.state, issue]));
  const findings: Finding[] = [];
  for (const issue of [...samples.values()].slice(0, MOST_SAMPLES)) {
    const offered = await remote.readMoves(issue.id, signal);
    for (const { key, name } of moves) findings.push(judgeMove(issue, key, name, offered));
  }
  return findings;
}

const MOST_SAMPLES = 5;

/** Where runs move an issue from an active state; a merge moves one from wherever it is. */
const MOVED_FROM_ACTIVE: ReadonlySet<string> = new Set([
  'tracker.in_progress_state',
  'tracker.handoff_state',
  'tracker.no_change_state',
]);

function judgeMove({ identifier, state: from }: Issue, key: string, to: string, offered: readonly string[]): Finding {
  if (sameState(from, to) || offered.some((name) => sameState(name, to)))
    return ok(`${key}.transition`, `${identifier} can go from "${from}" to "${to}"`);
  const message = `${identifier} cannot go from "${from}" to "${to}"; the workflow offers ${offered.join(', ') || 'no move'}`;
  return finding('warning', `${key}.transition`, message, `add the transition to the workflow of the tracker, or change ${key}`);
}

type Fix = (name: string) => Promise<void>;

function fixer(provider: Provider, tracker: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Fix | null {
  const { createLabel } = provider;
  return createLabel ? (name) => createLabel(tracker, deps, name, signal) : null;
}

async function checkName({ key, name, isWritten }: NamedState, board: Board, fix: Fix | null): Promise<Finding> {
  const missing = missingState(name, board);
  if (missing === null) return ok(key, `${wordFor(board)} "${name}" is there`);
  const { message, hint } = missing;
  if (fix !== null) return fixed(key, name, missing.message, { board, fix });
  const isFatal = !board.createsMissing && (isWritten || board.what === 'states');
  return finding(isFatal ? 'error' : 'warning', key, message, `${hint}; ${howToAdd(key, board)}`);
}

/** One that is missing breaks nothing by itself: people cannot set it, or it is made when it is first set. */
async function checkLabel({ key, name, isSetBy }: NamedLabel, board: Board, fix: Fix | null): Promise<Finding> {
  const missing = missingState(name, board);
  if (missing === null) return ok(key, `label "${name}" is there`);
  if (fix !== null) return fixed(key, name, missing.message, { board, fix });
  const remedy = isSetBy === 'people' ? 'make it by foray doctor --fix: nobody can set it before' : howToAdd(key, board);
  return finding('warning', key, missing.message, remedy);
}

function howToAdd(key: string, { what, createsMissing }: Board): string {
  if (what === 'labels')
    return `${createsMissing ? 'it is made when it is first needed, or now by ' : 'make it by '}foray doctor --fix`;
  return createsMissing
    ? 'fine if it is spelt as you mean it: no issue is in it yet'
    : `correct ${key}, or add it to the tracker`;
}

async function fixed(key: string, name: string, message: string, { board, fix }: { board: Board; fix: Fix }): Promise<Finding> {
  try {
    await fix(name);
    return { check: key, status: 'fixed', message: `${wordFor(board)} "${name}" was made`, remedy: null };
  } catch (error) {
    const failure = errorText(error);
    return finding(
      'error',
      key,
      `${message}, and it could not be made: ${failure}`,
      'make it by hand, or give the token the right to',
    );
  }
}
