import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every page for people, by its path from the root. */
const PAGES: readonly string[] = ['docs', 'src'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name)),
);

const TOP = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

/** The files a page links to, from the root. */
function linksOf(page: string): readonly { readonly file: string; readonly anchor: string }[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8').replace(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { file: file === '' ? page : path.join(path.dirname(page), file), anchor };
    });
}

/** Headings as forges make anchors of them. */
function anchorsOf(page: string): readonly string[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each([...TOP, ...PAGES])('every link of %s leads somewhere', (page) => {
  for (const { file, anchor } of linksOf(page)) {
    expect(existsSync(path.join(ROOT, file)), `${page} links to ${file}`).toBe(true);
    if (anchor !== '') expect(anchorsOf(file), `${page} links to ${file}#${anchor}`).toContain(anchor);
  }
});

it('the packed package holds every page that its pages link to', () => {
  const npm = path.join(path.dirname(process.execPath), 'npm');
  const output = execFileSync(existsSync(npm) ? npm : 'npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const packed = new Set((JSON.parse(output) as { files: { path: string }[] }[])[0]?.files.map((file) => file.path));
  const pages = [...packed].filter((name) => name.endsWith('.md'));
  expect(pages).toContain('README.md');
  const holds = (file: string): boolean => packed.has(file) || [...packed].some((name) => name.startsWith(`${file}/`));
  const missing = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ file }) => !holds(file))
      .map(({ file }) => `${page} links to ${file}`),
  );
  expect(missing).toEqual([]);
});
