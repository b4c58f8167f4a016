import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'plan',
  summary: 'what a changed file would start and stop; writes nothing',
  usage: 'NEW.md [--format text|json] [WORKFLOW.md]',
  flags: [FORMAT_FLAG],
  example: 'foray plan WORKFLOW.new.md WORKFLOW.md',
  takes: { least: 1, most: 2 },
  async run(args: Args) {
    const { showPlan } = await import('../actions/plan.ts');
    return showPlan({ newPath: args.words[0] ?? '', workflowPath: workflowOf(args, 1), asJson: isJson(args) });
  },
};
