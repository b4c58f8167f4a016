import { FORMAT_FLAG, isJson, workflowOf, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'migrate',
  summary: 'move the records from the database file to an empty PostgreSQL database',
  usage: '[--to URL] [--format text|json] [WORKFLOW.md]',
  flags: [
    {
      name: 'to',
      value: 'URL',
      summary: "the database, as postgres://user@host/name or '$NAME' of a variable that holds it; store.url when left out",
    },
    FORMAT_FLAG,
  ],
  example: "foray migrate --to '$DATABASE_URL'",
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    return (await import('../actions/migrate.ts')).moveDatabase({
      to: args.value('to'),
      workflowPath: workflowOf(args, 0),
      asJson: isJson(args),
    });
  },
};
