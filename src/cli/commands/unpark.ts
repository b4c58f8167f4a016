import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'unpark',
  summary: 'let a parked issue run again, with its budgets fresh',
  usage: 'IDENTIFIER [--format text|json] [WORKFLOW.md]',
  flags: [FORMAT_FLAG],
  example: 'foray unpark ENG-7',
  takes: { least: 1, most: 2 },
  async run(args: Args) {
    const { askAndPrint } = await import('../actions/operator.ts');
    return askAndPrint(workflowOf(args, 1), { kind: 'unpark', identifier: args.words[0] ?? '' }, isJson(args));
  },
};
