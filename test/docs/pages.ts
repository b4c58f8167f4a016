import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every page for people, by its path from the root. */
export const PAGES: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'bench/README.md',
  ...['docs', 'src'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join(folder, name)),
  ),
];

/** A fenced block of a page. */
export interface Snippet {
  readonly page: string;
  readonly language: string;
  readonly text: string;
  /** Its first line, which it is called by. */
  readonly begins: string;
}

export const SNIPPETS: readonly Snippet[] = PAGES.flatMap((page) =>
  [...textOf(page).matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```/gm)].map(([, indent = '', language = '', block = '']) => {
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    return { page, language, text, begins: text.trim().split('\n')[0] ?? '' };
  }),
);

export function textOf(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8');
}

/** The blocks in these languages, as rows of a table of tests. */
export function blocksIn(...languages: readonly string[]): readonly (readonly [page: string, begins: string, text: string])[] {
  return SNIPPETS.filter(({ language }) => languages.includes(language)).map(({ page, begins, text }) => [page, begins, text]);
}

/** Words of a command line; quotes hold together and are taken off. */
export function wordsOf(line: string): readonly string[] {
  return (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}
