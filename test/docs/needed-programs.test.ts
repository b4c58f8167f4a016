import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the README asks for: Node with its npm, git and a POSIX shell with the programs that come with it. */
const NEEDED = ['find', 'git', 'mkfifo', 'npm', 'npx', 'sh', 'sleep', 'true'];
/** Programs whose tests are skipped where they are missing. */
const OPTIONAL = ['bash', 'openssl', 'systemd-analyze'];
/** Suites with a command of their own. */
const APART = /^test\/(?:agents|fleet|real)\//;

it('the tests start no program that the README does not ask for', () => {
  expect(readFileSync(path.join(ROOT, 'README.md'), 'utf8')).toContain('git and a POSIX shell');
  const files = ['src', 'test'].flatMap(testFilesIn).filter((file) => !APART.test(file));
  expect(files.length).toBeGreaterThan(100);
  const started = files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/(?<![.\w])(?:spawn|exec|execFile)(?:Sync)?\(\s*'([\w-]+)'/g)].map(
      ([, program = '']) => `${program} in ${file}`,
    ),
  );
  expect(started.filter((one) => ![...NEEDED, ...OPTIONAL].includes(one.split(' ')[0] ?? ''))).toEqual([]);
});

/** Everything in `test`, and what stands beside the code it tests. */
function testFilesIn(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules') && file.endsWith(folder === 'src' ? '.test.ts' : '.ts'))
    .map((file) => `${folder}/${file}`);
}
