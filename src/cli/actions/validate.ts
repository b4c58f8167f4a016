import { readWorkflowFile } from '../../app/workflow.ts';
import { problemFacts } from '../../config/format.ts';
import type { Problem } from '../../domain/model/problem.ts';
import { printJsonLine } from '../output.ts';
import { printProblems } from '../problems.ts';

export interface ValidateSettings {
  readonly workflowPath: string;
  /** Warnings count as errors. */
  readonly isStrict: boolean;
  readonly asJson: boolean;
}

/** Tells what is wrong with a workflow file, without the network. */
export async function validate({ workflowPath, isStrict, asJson }: ValidateSettings): Promise<number> {
  const { problems: found, path } = await readWorkflowFile(workflowPath, process.env);
  const problems = found.filter(({ isAdvice }) => !isAdvice || isStrict);
  const refused = problems.some(({ severity }) => severity === 'error' || isStrict);
  if (asJson) {
    const shown = (wanted: Problem['severity']) =>
      problems.filter(({ severity }) => severity === wanted).map((problem) => problemFacts(problem, path));
    const facts = { valid: !refused, errors: shown('error'), warnings: shown('warning') };
    printJsonLine(facts);
  } else if (problems.length > 0) printProblems(problems);
  return refused ? 1 : 0;
}
