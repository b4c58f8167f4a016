import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'resume',
  summary: 'dispatch again after pause',
  usage: '[--format text|json] [WORKFLOW.md]',
  flags: [FORMAT_FLAG],
  example: 'foray resume',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { askAndPrint } = await import('../actions/operator.ts');
    return askAndPrint(workflowOf(args, 0), { kind: 'resume' }, isJson(args));
  },
};
