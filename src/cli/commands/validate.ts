import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'validate',
  summary: 'check a workflow file without the network',
  usage: '[--strict] [--format text|json] [WORKFLOW.md]',
  flags: [{ name: 'strict', summary: 'warnings count as errors' }, FORMAT_FLAG],
  example: 'foray validate --strict WORKFLOW.md',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { validate } = await import('../actions/validate.ts');
    return validate({ workflowPath: workflowOf(args, 0), isStrict: args.has('strict'), asJson: isJson(args) });
  },
};
