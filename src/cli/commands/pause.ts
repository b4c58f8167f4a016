import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'pause',
  summary: 'dispatch nothing new until resume; what runs goes on',
  usage: '[--reason TEXT] [--format text|json] [WORKFLOW.md]',
  flags: [{ name: 'reason', value: 'TEXT', summary: 'shown wherever an issue is held because of it' }, FORMAT_FLAG],
  example: 'foray pause --reason "release day"',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { askAndPrint } = await import('../actions/operator.ts');
    return askAndPrint(workflowOf(args, 0), { kind: 'pause', reason: args.value('reason') ?? '' }, isJson(args));
  },
};
