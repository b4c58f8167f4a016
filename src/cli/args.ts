import { parseArgs } from 'node:util';
import { nearestWord } from '../lib/nearest-word.ts';
import { UsageError, type Args, type Command, type Flag } from './command.ts';

/** Reads the arguments of a command by its flags. How many words there are is not judged yet. */
export function readArgs(command: Command, argv: readonly string[]): Args {
  const { values, positionals } = parse(command, argv);
  for (const flag of command.flags) checkValue(command, flag, values[flag.name]);
  return {
    words: positionals,
    has: (name) => values[name] === true,
    value(name) {
      const value = values[name];
      return typeof value === 'string' ? value : null;
    },
  };
}

function parse(command: Command, argv: readonly string[]): { values: Record<string, unknown>; positionals: string[] } {
  const options = Object.fromEntries(
    command.flags.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short === undefined ? {} : { short }) },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(unreadable(command, error), command.name);
  }
}

/** Why the flags cannot be read; of one that nobody knows the nearest that there is. */
function unreadable({ flags }: Command, error: unknown): string {
  const text = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
  const unknown = /^Unknown option '(--?[^']+)'/.exec(text)?.[1];
  if (unknown === undefined) return text.replace(/\. To specify a positional.*$/, '');
  const near = nearestWord(
    unknown.replace(/^-+/, ''),
    flags.map(({ name }) => name),
  );
  return `unknown flag ${unknown}${near === null ? '' : `, did you mean --${near}?`}`;
}

function checkValue(command: Command, flag: Flag, value: unknown): void {
  if (typeof value !== 'string' || flag.choices === undefined || flag.choices.includes(value)) return;
  throw new UsageError(notOneOf(flag.name, value, flag.choices), command.name);
}

/** What is wrong with a value that is none of those a flag takes. */
export function notOneOf(flag: string, value: string, choices: readonly string[]): string {
  const near = nearestWord(value, choices);
  return `--${flag} must be one of ${choices.join(', ')}, got "${value}"${near === null ? '' : `, did you mean "${near}"?`}`;
}

/** Refuses more or fewer words than the command takes. */
export function checkWords({ name, usage, takes }: Command, words: readonly string[]): void {
  const called = `foray ${name}${usage === '' ? '' : ` ${usage}`}`;
  if (words.length < takes.least) throw new UsageError(`${name} needs ${missingWord(usage, words.length)}: ${called}`, name);
  if (words.length <= takes.most) return;
  if (takes.most === 0) throw new UsageError(`unexpected argument "${words[0]}": ${called}`, name);
  const one = usage.includes('WORKFLOW') ? 'one workflow file' : 'one argument';
  const expected = takes.most === 1 ? one : `at most ${takes.most} arguments`;
  throw new UsageError(`expected ${expected}, got ${words.length}: ${words.join(' ')}`, name);
}

/** The first argument that the usage shows without brackets. */
function missingWord(usage: string, given: number): string {
  const word = usage.split(' ').filter((part) => /^[A-Z]/.test(part))[given] ?? 'an argument';
  return word === 'IDENTIFIER' ? 'the identifier of the issue' : word;
}

/** A whole number in a range. */
export function readNumber(flag: string, text: string | null, most: number): number | null {
  if (text === null) return null;
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw new UsageError(`${flag} must be a whole number from 0 to ${most}, got "${text}"`);
  return Number(text);
}
