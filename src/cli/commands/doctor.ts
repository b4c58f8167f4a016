import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'doctor',
  summary: 'check everything a run needs, with a remedy for each fault',
  usage: '[--fix] [--format text|json] [WORKFLOW.md]',
  flags: [{ name: 'fix', summary: 'mend what is safe to mend: missing labels, a missing workspace root' }, FORMAT_FLAG],
  example: 'foray doctor --fix',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    const { showFindings } = await import('../actions/doctor.ts');
    return showFindings({ workflowPath: workflowOf(args, 0), fix: args.has('fix'), asJson: isJson(args) });
  },
};
