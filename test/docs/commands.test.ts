import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Command, Flag } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { overview } from '../../src/cli/help.ts';

const PAGE = fileURLToPath(new URL('../../docs/commands.md', import.meta.url));

it('the page of commands is made from the table of commands (UPDATE_DOCS=1 renews it)', async () => {
  const page = `# Commands\n\nMade from the table of commands; \`foray COMMAND --help\` prints the same.\n\n${COMMANDS.map(section).join('\n')}`;
  if (process.env['UPDATE_DOCS']) await writeFile(PAGE, page);
  expect(await readFile(PAGE, 'utf8')).toBe(page);
});

it('help fits a screen', () => {
  const lines = overview().trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(30);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
});

function section({ name, summary, usage, flags, example }: Command): string {
  const rows = flags.map((flag) => `| \`${formOf(flag)}\` | ${flag.summary.replaceAll('|', '\\|')} |`);
  const table = rows.length === 0 ? '' : `\n| Flag | |\n|---|---|\n${rows.join('\n')}\n`;
  return `## ${name}\n\n${summary[0]?.toUpperCase()}${summary.slice(1)}.\n\n\`foray ${name}${usage === '' ? '' : ` ${usage}`}\`\n${table}\nExample: \`${example}\`\n`;
}

function formOf({ name, short, value }: Flag): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}
