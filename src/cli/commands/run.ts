import { readNumber } from '../args.ts';
import { FORMAT_FLAG, isJson, UsageError, workflowOf, type Args, type Command } from '../command.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const LOG_FORMATS = ['text', 'json'] as const;

export const command: Command = {
  name: 'run',
  summary: 'run the service until it is interrupted (the default)',
  usage: '[--port N] [--dry-run [--format text|json]] [--strict] [--log-level L] [--log-format F] [WORKFLOW.md]',
  flags: [
    {
      name: 'port',
      value: 'N',
      summary: 'serve dashboard, API and metrics on port N (0 picks a free one); wins over server.port',
    },
    { name: 'dry-run', summary: 'one poll that tells what would be dispatched and changes nothing' },
    { ...FORMAT_FLAG, summary: 'how a dry run ends: with a table (text) or one object (json)' },
    { name: 'strict', summary: 'refuse a workflow file with warnings, such as a misspelt key' },
    { name: 'log-level', value: 'L', choices: LOG_LEVELS, summary: 'debug, info, warn or error' },
    { name: 'log-format', value: 'F', choices: LOG_FORMATS, summary: 'text or json' },
    { name: 'version', short: 'V', summary: 'print the version' },
  ],
  example: 'foray --port 8080 WORKFLOW.md',
  takes: { least: 0, most: 1 },
  async run(args: Args) {
    if (args.value('format') !== null && !args.has('dry-run'))
      throw new UsageError('--format is for --dry-run; the records of a run are set by --log-format');
    const settings = {
      workflowPath: workflowOf(args, 0),
      port: readNumber('--port', args.value('port'), 65_535),
      isStrict: args.has('strict'),
      asJson: isJson(args),
      logLevel: LOG_LEVELS.find((level) => level === args.value('log-level')) ?? null,
      logFormat: LOG_FORMATS.find((format) => format === args.value('log-format')) ?? null,
    };
    return args.has('dry-run')
      ? (await import('../actions/dry-run.ts')).dryRun(settings)
      : (await import('../actions/serve.ts')).serve(settings);
  },
};
