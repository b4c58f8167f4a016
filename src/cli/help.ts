import type { Command, Flag } from './command.ts';
import { COMMANDS } from './commands.ts';

/** The manual that fits a screen. */
export function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `foray watches one issue tracker and turns issues into coding-agent sessions.

Usage: foray [--port N] [--dry-run] [WORKFLOW.md]     run the service; the file is ./WORKFLOW.md unless named
       foray COMMAND [flags] [arguments] [WORKFLOW.md]

Commands:
${lines.join('\n')}

foray COMMAND --help tells more. -V, --version prints the version.
Start with: foray demo, then foray init. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 or 143 after a second signal.
`;
}

/** The help of one command: usage, flags, one example. */
export function helpOf(command: Command): string {
  const usage = `foray ${command.name}${command.usage === '' ? '' : ` ${command.usage}`}`;
  const flags = [...command.flags, HELP_FLAG].map((flag) => [flagForm(flag), flag.summary] as const);
  const width = Math.max(...flags.map(([form]) => form.length));
  return `${command.summary}

Usage:
  ${usage}

Flags:
${flags.map(([form, summary]) => `  ${form.padEnd(width)}  ${summary}`).join('\n')}

Example:
  ${command.example}
`;
}

const HELP_FLAG: Flag = { name: 'help', short: 'h', summary: 'this page' };

function flagForm({ name, short, value }: Flag): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}
