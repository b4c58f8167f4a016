import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'status',
  summary: 'what runs, waits, is parked and is watched',
  usage: '[--watch] [--format text|json] [WORKFLOW.md]',
  flags: [{ name: 'watch', summary: 'show it again every second until interrupted' }, FORMAT_FLAG],
  example: 'foray status --watch',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { showStatus } = await import('../actions/status.ts');
    return showStatus({ workflowPath: workflowOf(args, 0), watch: args.has('watch'), asJson: isJson(args) });
  },
};
