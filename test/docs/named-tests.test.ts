import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a row of a table calls its proof. */
function proofsIn(page: string): readonly string[] {
  const rows = readFileSync(path.join(ROOT, page), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') || line.startsWith('Test: '));
  return rows.flatMap((row) => [...row.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, name = '']) => name));
}

it.each(['docs/security.md', 'docs/faults.md'])('every test that %s names is there', (page) => {
  const proofs = proofsIn(page);
  expect(proofs.length).toBeGreaterThan(5);
  const missing = proofs.filter((name) => !isThere(name));
  expect(missing).toEqual([]);
});

/** A file or folder, or some file whose name ends as the one with a star. */
function isThere(name: string): boolean {
  const [folder, pattern] = [path.join(ROOT, path.dirname(name)), path.basename(name)];
  if (!pattern.startsWith('*')) return existsSync(path.join(ROOT, name));
  return existsSync(folder) && readdirSync(folder).some((file) => file.endsWith(pattern.slice(1)));
}
