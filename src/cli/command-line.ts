import { existsSync } from 'node:fs';
import { checkWords, readArgs } from './args.ts';
import { UsageError, type Args, type Command } from './command.ts';
import { COMMANDS, RUN_COMMAND } from './commands.ts';
import { helpOf, overview } from './help.ts';
import { proxySettings } from '../lib/http/proxy.ts';
import { nearestWord } from '../lib/nearest-word.ts';

/** Runs what the command line asks for, for the process whose command it is. */
export async function main(argv: readonly string[]): Promise<void> {
  letReadersGo();
  process.exitCode = await runCommandLine(argv);
}

/** A reader that has seen enough, such as `head`, is no failure; a full disk is one, told in a line. Node makes the stream when it is first used: so do we. */
function letReadersGo(): void {
  const made = Object.getOwnPropertyDescriptor(process, 'stdout')?.get;
  if (made === undefined) return;
  const get = (): NodeJS.WriteStream => {
    const stream = made.call(process) as NodeJS.WriteStream;
    Object.defineProperty(process, 'stdout', { value: stream, configurable: true, enumerable: true });
    return stream.on('error', (error: NodeJS.ErrnoException) => {
      // The command is let come to its end first, where it has told all: its exit code counts.
      if (error.code === 'EPIPE') return void setImmediate(() => process.exit());
      process.stderr.write(`foray: standard output cannot be written: ${error.message}\n`);
      process.exit(1);
    });
  };
  Object.defineProperty(process, 'stdout', { get, configurable: true, enumerable: true });
}

/** Resolves with the exit code. The only place that prints errors of a command. */
export function runCommandLine(argv: readonly string[]): Promise<number> {
  return run(argv).catch((error: unknown) => report(error, asksForJson(argv)));
}

async function run(argv: readonly string[]): Promise<number> {
  const [first = '', second] = argv;
  if (first === 'help') return print(second === undefined ? overview() : helpOf(named(second) ?? unknown(second)));
  const command = named(first);
  // Before the flags are read: those of a mistyped command are not the flags of a run.
  if (command === null && !first.startsWith('-')) refuseMistyped(argv[0]);
  if (asksForHelp(argv)) return print(command === null ? overview() : helpOf(command));
  const chosen = command ?? RUN_COMMAND;
  const args = readArgs(chosen, command === null ? argv : argv.slice(1));
  if (args.has('version')) return print(`foray ${FORAY_VERSION}\n`);
  if (command === null) refuseMistyped(args.words[0]);
  return runCommand(chosen, args);
}

async function runCommand(chosen: Command, args: Args): Promise<number> {
  checkWords(chosen, args.words);
  // A proxy that is no address is told before anything else.
  proxySettings(process.env);
  return chosen.run(args).catch((error: unknown) => {
    throw error instanceof UsageError && error.command === null ? new UsageError(error.message, chosen.name) : error;
  });
}

function named(name: string): Command | null {
  return COMMANDS.find((command) => command.name === name) ?? null;
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).some((word) => word === '-h' || word === '--help');
}

/** A word that could be a command, and is neither one nor a file. */
function refuseMistyped(word: string | undefined): void {
  if (word !== undefined && !/[/.\\]/.test(word) && !existsSync(word)) unknown(word);
}

function unknown(word: string): never {
  if (named(word) !== null) throw new UsageError(`the command comes first: foray ${word} …`, word);
  const near = nearestWord(
    word,
    COMMANDS.map(({ name }) => name),
  );
  throw new UsageError(`unknown command "${word}"${near === null ? '' : `, did you mean "${near}"?`}`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** By a flag of any command. */
function asksForJson(argv: readonly string[]): boolean {
  return argv.some((word, index) => word === '--format=json' || (word === 'json' && argv[index - 1] === '--format'));
}

/** Foreseeable failures in a line; to programs that asked for JSON as a record of it. */
async function report(error: unknown, asJson: boolean): Promise<number> {
  if (error instanceof UsageError) {
    process.stderr.write(`foray: ${error.message}\nTry: foray ${error.command === null ? '' : `${error.command} `}--help\n`);
    return 2;
  }
  const { tellFailure } = await import('./failure.ts');
  tellFailure(error, asJson);
  if (process.env['FORAY_DEBUG'] && error instanceof Error) await printStack(error);
  return 1;
}

async function printStack({ stack = '' }: Error): Promise<void> {
  const { readableStack } = await import('./readable-stack.ts');
  process.stderr.write(`${readableStack(stack)}\n`);
}
