import type { Problem } from '../../domain/model/problem.ts';

export interface ValidateSettings {
  readonly workflowPath: string;
  /** Warnings count as errors. */
  readonly isStrict: boolean;
  readonly asJson: boolean;
}

/** Tells what is wrong with a workflow file, without the network. */
export async function validate({ workflowPath, isStrict, asJson }: ValidateSettings): Promise<number> {
  // Only what is needed is loaded: most files have no problems.
  const { readWorkflowFile } = await import('../../app/workflow.ts');
  const { problems: found, path } = await readWorkflowFile(workflowPath, process.env);
  const problems = found.filter(({ isAdvice }) => !isAdvice || isStrict);
  const refused = problems.some(({ severity }) => severity === 'error' || isStrict);
  if (asJson) {
    const { problemFacts } = await import('../../config/format.ts');
    const shown = (wanted: Problem['severity']) =>
      problems.filter(({ severity }) => severity === wanted).map((problem) => problemFacts(problem, path));
    const facts = { valid: !refused, errors: shown('error'), warnings: shown('warning') };
    (await import('../output.ts')).printJsonLine(facts);
  } else if (problems.length > 0) (await import('../problems.ts')).printProblems(problems);
  return refused ? 1 : 0;
}
