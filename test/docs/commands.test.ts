import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Command, Flag } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { helpOf, overview } from '../../src/cli/help.ts';

const FOLDER = new URL('../../docs/', import.meta.url);
const pathOf = (name: string): string => fileURLToPath(new URL(name, FOLDER));

it('the page of commands lists them all (UPDATE_DOCS=1 renews it)', async () => {
  const rows = COMMANDS.map(({ name, summary }) => `| [${name}](commands/${name}.md) | ${cell(summary)} |`);
  const page = `# Commands\n\nMade from the table of commands; \`foray COMMAND --help\` prints the same.\n\n| Command | |\n|---|---|\n${rows.join('\n')}\n`;
  if (process.env['UPDATE_DOCS']) await writeFile(pathOf('commands.md'), page);
  expect(await readFile(pathOf('commands.md'), 'utf8')).toBe(page);
});

it.each(COMMANDS.map((command) => [command.name, command] as const))(
  'the page of %s begins with what its help says (UPDATE_DOCS=1 renews that part)',
  async (name, command) => {
    const file = pathOf(`commands/${name}.md`);
    const head = headOf(command);
    const found = await readFile(file, 'utf8').catch(() => '');
    const rest = found.includes(NOTES) ? found.slice(found.indexOf(NOTES)) : `${NOTES}\n`;
    if (process.env['UPDATE_DOCS']) await writeFile(file, `${head}${rest}`);
    const page = await readFile(file, 'utf8');
    expect(page.slice(0, page.indexOf(NOTES))).toBe(head);
  },
);

/** What stands below is written by hand. */
const NOTES = '## Notes\n';

it.each([['the overview', overview()] as const, ...COMMANDS.map((command) => [command.name, helpOf(command)] as const)])(
  'help fits a terminal of 80 by 24: %s',
  (_name, text) => {
    const lines = text.trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    // The line with the next prompt comes below.
    expect(lines.length).toBeLessThanOrEqual(23);
  },
);

it('the overview names every command', () => {
  for (const { name } of COMMANDS) expect(overview()).toMatch(new RegExp(`^  (?:.*, )?${name}(?:,| )`, 'm'));
});

function headOf({ name, summary, usage, flags, example }: Command): string {
  const rows = flags.map((flag) => `| \`${formOf(flag)}\` | ${cell(flag.summary)} |`);
  const table = rows.length === 0 ? '' : `\n| Flag | |\n|---|---|\n${rows.join('\n')}\n`;
  return `# foray ${name}\n\n${summary[0]?.toUpperCase()}${summary.slice(1)}.\n\n\`foray ${name}${usage === '' ? '' : ` ${usage}`}\`\n${table}\nExample: \`${example}\`\n\n`;
}

function formOf({ name, short, value }: Flag): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
