import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'validate',
  summary: 'check a workflow file without the network',
  usage: '[--strict] [--format text|json] [WORKFLOW.md]',
  flags: [{ name: 'strict', summary: 'warnings count as errors' }, FORMAT_FLAG],
  example: 'foray validate --strict WORKFLOW.md',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { readWorkflowFile } = await import('../../app/workflow.ts');
    const { problems: found, path } = await readWorkflowFile(workflowOf(args, 0), process.env);
    const problems = found.filter(({ isAdvice }) => !isAdvice || args.has('strict'));
    const refused = problems.some(({ severity }) => severity === 'error' || args.has('strict'));
    if (isJson(args)) {
      const { problemFacts } = await import('../../config/format.ts');
      const shown = (wanted: string) =>
        problems.filter(({ severity }) => severity === wanted).map((problem) => problemFacts(problem, path));
      const facts = { valid: !refused, errors: shown('error'), warnings: shown('warning') };
      process.stdout.write(`${JSON.stringify(facts)}\n`);
    } else if (problems.length > 0) (await import('../problems.ts')).printProblems(problems);
    return refused ? 1 : 0;
  },
};
