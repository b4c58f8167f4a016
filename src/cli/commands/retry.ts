import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'retry',
  summary: 'make a waiting or parked issue due now',
  usage: 'IDENTIFIER [--format text|json] [WORKFLOW.md]',
  flags: [FORMAT_FLAG],
  example: 'foray retry ENG-7',
  takes: { least: 1, most: 2 },
  async run(args: Args) {
    const { askAndPrint } = await import('../actions/operator.ts');
    return askAndPrint(workflowOf(args, 1), { kind: 'retry', identifier: args.words[0] ?? '' }, isJson(args));
  },
};
