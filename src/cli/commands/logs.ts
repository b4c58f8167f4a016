import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'logs',
  summary: 'the recorded events of the runs of an issue',
  usage: 'IDENTIFIER [--follow] [--format text|json] [WORKFLOW.md]',
  flags: [
    { name: 'follow', short: 'f', summary: 'go on with what comes until interrupted; with json one event a line' },
    FORMAT_FLAG,
  ],
  example: 'foray logs ENG-7 --follow',
  takes: { least: 1, most: 2 },
  async run(args: Args) {
    const { showLogs } = await import('../actions/logs.ts');
    const settings = { workflowPath: workflowOf(args, 1), follow: args.has('follow'), asJson: isJson(args) };
    return showLogs(args.words[0] ?? '', settings);
  },
};
