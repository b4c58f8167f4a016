import { formatProblem, problemAttributes } from '../config/format.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import type { Problem } from '../domain/model/problem.ts';
import { readWorkflowFile, requireGood, tellWarnings, type GoodWorkflow } from '../app/workflow.ts';
import { oneLine } from './output.ts';
import type { LogFormat, RunSettings } from './run-settings.ts';
import { stderrLog } from './stderr-log.ts';

/** Loads a workflow to run it. Errors are told and give null, as do warnings where they are not allowed. */
export async function openWorkflow(
  args: Pick<RunSettings, 'workflowPath' | 'isStrict' | 'logFormat'>,
): Promise<GoodWorkflow | null> {
  const loaded = await readWorkflowFile(args.workflowPath, process.env);
  const { problems, settings } = loaded;
  if (settings !== null && (!args.isStrict || problems.length === 0)) return requireGood(loaded);
  const format = args.logFormat ?? loaded.logFormat;
  tellProblems(loaded, format);
  if (settings !== null)
    stderrLog({ level: 'warn', format }).error('foray failed', {
      error: 'the workflow file has warnings, which --strict refuses',
    });
  return null;
}

/** Warnings are records of a start, whose errors are lines like those of `validate`; where records are JSON, so are they. */
function tellProblems(loaded: Pick<LoadedWorkflow, 'problems' | 'path'>, format: LogFormat): void {
  const logger = stderrLog({ level: 'warn', format });
  tellWarnings(loaded, logger);
  if (format === 'text') printErrors(loaded.problems);
  else for (const problem of errorsIn(loaded.problems)) logger.error('workflow error', problemAttributes(problem, loaded.path));
}

/** The workflow, or null after its errors were told in the form that was asked for. */
export function goodOrTold(loaded: LoadedWorkflow, asJson: boolean): GoodWorkflow | null {
  if (loaded.settings !== null) return requireGood(loaded);
  tellFaults(loaded, asJson);
  return null;
}

/** What keeps a command from reading a workflow file. */
export function tellFaults(loaded: Pick<LoadedWorkflow, 'problems' | 'path'>, asJson: boolean): void {
  if (asJson) tellProblems(loaded, 'json');
  else printErrors(loaded.problems);
}

/** A file that cannot be read keeps nobody from asking the service that runs with what it read before. */
export function tellUnreadable(loaded: Pick<LoadedWorkflow, 'problems'>, asJson: boolean): void {
  tellNote('the workflow file cannot be read; the running service is asked', faultLine(loaded), asJson);
}

/** The first fault of a file in a line. */
export function faultLine({ problems }: Pick<LoadedWorkflow, 'problems'>): string {
  const [first] = errorsIn(problems);
  return first === undefined ? '' : formatProblem(first);
}

/** What is to be said beside an answer: a line for people, a record for programs that asked for JSON. */
export function tellNote(note: string, error: string, asJson: boolean): void {
  if (asJson) stderrLog({ level: 'warn', format: 'json' }).warn(note, { error });
  else process.stderr.write(`foray: ${note}: ${oneLine(error)}\n`);
}

/** As lines; warnings are left to `validate`. */
export function printErrors(problems: readonly Problem[]): void {
  printProblems(errorsIn(problems));
}

function errorsIn(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) process.stderr.write(`${formatProblem(problem)}\n`);
}
