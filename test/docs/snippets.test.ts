import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { AGENT_KINDS } from '../../src/agents/registry.ts';
import { readArgs } from '../../src/cli/args.ts';
import { COMMANDS, RUN_COMMAND } from '../../src/cli/commands.ts';
import { readWorkflow } from '../../src/config/workflow.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name)),
];

interface Snippet {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const SNIPPETS: readonly Snippet[] = PAGES.flatMap((page) =>
  [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      page,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
);

const of = (...languages: string[]) =>
  SNIPPETS.filter(({ language }) => languages.includes(language)).map((snippet) => [snippet.page, snippet.text] as const);

describe('snippets of the documentation', () => {
  it.each(of('json'))('%s: JSON can be read', (_page, text) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it.each(of('yaml', 'yml'))('%s: YAML can be read', (_page, text) => {
    expect(parseAllDocuments(text).flatMap((document) => document.errors)).toEqual([]);
  });

  it.each(of('markdown').filter(([, text]) => text.startsWith('---\n')))('%s: a workflow file has no errors', (page, text) => {
    const token = 'someone@example.com:a-token-of-some-length';
    const env = Object.fromEntries([...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => [name, token]));
    const context = { env, homeDir: os.homedir(), providers: PROVIDERS, agentKinds: AGENT_KINDS, checkTemplate: () => [] };
    const { problems } = readWorkflow(text, path.join(ROOT, page), context);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  const calls = of('sh', 'bash', 'console').flatMap(([page, text]) =>
    text
      .split('\n')
      .map((line) => line.replace(/^\$ /, '').replace(/ #.*$/, ''))
      .flatMap((line) => line.split(/&&|\|/))
      .map((line) => line.trim())
      .filter((line) => /^(?:foray|node dist\/cli\.js)(?: |$)/.test(line))
      .map((line) => [page, line] as const),
  );

  it.each(calls)('%s: %s is a command line that is understood', (_page, line) => {
    const words = (line.replace(/>.*$/, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^["']|["']$/g, ''));
    const args = words.slice(words[0] === 'node' ? 2 : 1).filter((word) => word !== '&');
    if (args.some((word) => ['--help', '-h', '--version', '-V', 'help'].includes(word))) return;
    const command = COMMANDS.find(({ name }) => name === args[0]);
    expect(() => readArgs(command ?? RUN_COMMAND, command ? args.slice(1) : args)).not.toThrow();
  });
});
