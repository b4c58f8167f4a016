import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PAGES, ROOT, textOf } from './pages.ts';

/** The files a page links to, from the root. */
function linksOf(page: string): readonly { readonly file: string; readonly anchor: string }[] {
  const text = textOf(page).replace(/```[\s\S]*?```/g, '');
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
  const text = textOf(page);
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each(['CHANGELOG.md', ...PAGES])('every link of %s leads somewhere', (page) => {
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
