/** One command. The table of commands makes help and completion of these; what a command needs is loaded when it runs. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What follows the name, as help shows it. */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly example: string;
  /** How many arguments it takes besides flags. */
  readonly takes: { readonly least: number; readonly most: number };
  /** Resolves with the exit code. */
  run(args: Args): Promise<number>;
}

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** What stands for its value in help; a flag without one is a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Kinds that completion offers where other names are taken too. */
  readonly offered?: 'trackers' | 'agents';
  readonly summary: string;
}

/** A command line that was read by the flags of its command. */
export interface Args {
  readonly words: readonly string[];
  /** Whether a switch was given. */
  has(name: string): boolean;
  /** The value of a flag, or null. */
  value(name: string): string | null;
}

/** A command line that makes no sense. The message says what and what would. */
export class UsageError extends Error {
  /** The command whose help tells more; null for the overview. */
  readonly command: string | null;

  constructor(message: string, command: string | null = null) {
    super(message);
    this.command = command;
  }
}

export const FORMAT_FLAG: Flag = {
  name: 'format',
  value: 'F',
  choices: ['text', 'json'],
  summary: 'text for people (default), json for programs',
};

export const DEFAULT_WORKFLOW = 'WORKFLOW.md';

/** The workflow file is always the last argument. */
export function workflowOf(args: Args, position: number): string {
  return args.words[position] ?? DEFAULT_WORKFLOW;
}

export function isJson(args: Args): boolean {
  return args.value('format') === 'json';
}
