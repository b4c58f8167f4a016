import { workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'backup',
  summary: 'copy the database to a file, also while the service runs',
  usage: 'FILE [WORKFLOW.md]',
  flags: [],
  example: 'foray backup foray-2026-03-01.db',
  takes: { least: 1, most: 2 },
  async run(args: Args) {
    return (await import('../actions/backup.ts')).backup(args.words[0] ?? '', workflowOf(args, 1));
  },
};
