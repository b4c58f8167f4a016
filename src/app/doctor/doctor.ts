import { problemFacts } from '../../config/format.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { makeDirectories } from '../../lib/make-directories.ts';
import { checkAgentProgram, checkDatabase, checkEnvironment, checkGit, checkPort, checkWorkspaceRoot } from './machine.ts';
import { checkRepo } from './repo.ts';
import { diagnoseTracker } from './tracker.ts';
import { finding, ok, type Finding } from './finding.ts';
import type { SurveyDeps } from '../commands/survey.ts';
import { ENDLESS_CHECK, ENDLESS_REMEDY, endlessText } from '../endless.ts';
import { requireGood, WorkflowFault, type GoodWorkflow } from '../workflow.ts';

/** Looks at everything a run needs, near things first. With `fix` mends what is safe to mend. */
export async function examine(
  loaded: LoadedWorkflow,
  deps: SurveyDeps,
  { fix }: { readonly fix: boolean },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const environment = checkEnvironment();
  const file = fileFindings(loaded);
  const workflow = goodOrNull(loaded);
  if (workflow === null) return [...environment, ...file];
  if (fix) await makeDirectories(workflow.settings.workspace.root, 0o750).catch(() => {});
  return [
    ...environment,
    ...file,
    ...checkEnd(workflow),
    ...(await checkAgentProgram(workflow, deps)),
    ...(await checkWorkspaceRoot(workflow, deps)),
    ...(await checkDatabase(workflow)),
    ...(await checkPort(workflow)),
    ...(await checkGit(workflow)),
    ...(await checkRepo(workflow, deps, signal)),
    ...(await diagnoseTracker(workflow, deps, { fix }, signal)),
  ];
}

function goodOrNull(loaded: LoadedWorkflow): GoodWorkflow | null {
  try {
    return requireGood(loaded);
  } catch (error) {
    if (error instanceof WorkflowFault) return null;
    throw error;
  }
}

function fileFindings({ problems, path }: LoadedWorkflow): readonly Finding[] {
  if (problems.length === 0) return [ok('workflow', `${path} is valid`)];
  return problems.map((problem) => {
    const { severity: status, check, message, ...place } = problemFacts(problem, path);
    const unset = problem.unset?.map((name) => `$${name}`);
    const remedy = unset === undefined ? 'correct the workflow file' : `set ${unset.join(' and ')}`;
    return { check, status, message, remedy, ...place };
  });
}

/** Whether anything ends the work on an issue that stays active. */
function checkEnd(workflow: GoodWorkflow): readonly Finding[] {
  const text = endlessText(workflow);
  return text === null ? [] : [finding('warning', ENDLESS_CHECK, text, ENDLESS_REMEDY)];
}
