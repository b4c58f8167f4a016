import type { Command, Flag } from './command.ts';
import { COMMANDS } from './commands.ts';

/** Commands that go together share a line, so that all of them fit a terminal of 80 by 24. */
const TOGETHER: readonly { readonly names: readonly string[]; readonly summary: string }[] = [
  { names: ['status', 'stats'], summary: 'what goes on; runs, time, tokens and cost' },
  { names: ['retry', 'unpark'], summary: 'make an issue due now; let a parked one run again' },
  { names: ['pause', 'resume'], summary: 'dispatch nothing new; go on' },
  { names: ['backup', 'migrate'], summary: 'copy the database; move it to PostgreSQL' },
  { names: ['schema', 'completion'], summary: 'for editors; for shells' },
  { names: ['worker', 'mcp'], summary: 'take runs from a queue; the tools of a session' },
];

/** The manual that fits a screen. */
export function overview(): string {
  const rows = COMMANDS.map(({ name, summary }) => {
    const group = TOGETHER.find(({ names }) => names.includes(name));
    return group ? { name, label: group.names.join(', '), summary: group.summary } : { name, label: name, summary };
  }).filter((row, index, all) => all.findIndex(({ label }) => label === row.label) === index);
  const width = Math.max(...rows.map(({ label }) => label.length));
  return `foray watches one issue tracker and turns issues into coding-agent sessions.

Usage: foray [--port N] [--dry-run] [WORKFLOW.md]    run the service
       foray COMMAND [flags] [arguments] [WORKFLOW.md]

${rows.map(({ label, summary }) => `  ${label.padEnd(width)}  ${summary}`).join('\n')}

foray COMMAND --help tells more; -V, --version. Without a file: ./WORKFLOW.md
Begin with foray demo, then foray init. Exit: 0 done, 1 failed, 2 wrong usage.
`;
}

/** The help of one command: usage, flags, one example. */
export function helpOf(command: Command): string {
  const usage = `foray ${command.name}${command.usage === '' ? '' : ` ${command.usage}`}`;
  const flags = [...command.flags, HELP_FLAG].map((flag) => [flagForm(flag), flag.summary] as const);
  const width = Math.max(...flags.map(([form]) => form.length));
  return `${command.summary}

Usage:
${hanging('  ', usage, 4)}

Flags:
${flags.map(([form, summary]) => hanging(`  ${form.padEnd(width)}  `, summary, width + 4)).join('\n')}

Example:
  ${command.example}
`;
}

const HELP_FLAG: Flag = { name: 'help', short: 'h', summary: 'this page' };

function flagForm({ name, short, value }: Flag): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

const COLUMNS = 80;

/** Text behind a beginning, broken between words where the terminal ends. */
function hanging(begin: string, text: string, indent: number): string {
  const lines = [begin];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    const isFresh = last.trim() === '' || last === begin;
    if (last.length + word.length + (isFresh ? 0 : 1) <= COLUMNS)
      lines[lines.length - 1] = isFresh ? last + word : `${last} ${word}`;
    else lines.push(' '.repeat(indent) + word);
  }
  return lines.join('\n');
}
