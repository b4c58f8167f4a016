import { useProxies } from '../lib/http/proxy.ts';
import { readArgs, UsageError, type Invocation } from './args.ts';
import { HELP } from './help.ts';

/** The only place that prints errors and ends the process. Commands are loaded when they are asked for. */
async function main(argv: readonly string[]): Promise<number> {
  const invocation = readArgs(argv);
  switch (invocation.command) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      process.stdout.write(`foray ${FORAY_VERSION}\n`);
      return 0;
    default:
      await useProxies(process.env);
      return runCommand(invocation);
  }
}

async function runCommand(invocation: Exclude<Invocation, { command: 'help' | 'version' }>): Promise<number> {
  switch (invocation.command) {
    case 'run':
      return invocation.dryRun
        ? (await import('./commands/dry-run.ts')).dryRun(invocation)
        : (await import('./commands/run.ts')).run(invocation);
    case 'validate':
      return (await import('./commands/validate.ts')).validate(invocation);
    case 'schema':
      return (await import('./commands/schema.ts')).printSchema();
    case 'mcp':
      return (await import('./commands/mcp.ts')).mcp();
    case 'unpark':
      return (await import('./commands/unpark.ts')).unpark(invocation);
    case 'demo':
      return (await import('./commands/demo.ts')).demo(invocation);
  }
}

function report(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`foray: ${error.message}\nTry: foray --help\n`);
    return 2;
  }
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`foray: ${text}\n`);
  if (process.env['FORAY_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`);
  return 1;
}

// A reader that has seen enough, such as head, is no fault of ours.
process.stdout.on('error', () => process.exit());
process.exitCode = await main(process.argv.slice(2)).catch(report);
