import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { formatProblem } from './format.ts';
import { loadWorkflow } from './workflow.ts';

let folder = '';
const GOOD = '---\ntracker: { kind: file, active_states: [a] }\nfile: { path: x }\n---\nBody\n';

beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'foray-load-')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function loadBytes(bytes: Buffer | string) {
  const file = path.join(folder, 'WORKFLOW.md');
  await writeFile(file, bytes);
  return loadWorkflow(file, fakeContext());
}

describe('loading a file', () => {
  it('reads it and writes nothing', async () => {
    const loaded = await loadBytes(GOOD);
    expect(loaded.problems).toEqual([]);
    expect(loaded.settings?.dbPath).toBe(path.join(folder, '.foray.db'));
    expect(await readdir(folder)).toEqual(['WORKFLOW.md']);
  });

  it('tolerates a byte order mark', async () => {
    expect((await loadBytes(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(GOOD)]))).problems).toEqual([]);
  });

  it('takes exactly 1 MiB', async () => {
    expect((await loadBytes(GOOD + 'x'.repeat(1024 * 1024 - GOOD.length))).problems).toEqual([]);
  });

  const rows: readonly (readonly [
    title: string,
    make: (file: string) => Promise<unknown> | void,
    check: string,
    words: string,
  ])[] = [
    ['a missing file', () => undefined, 'workflow.missing', 'there is no file'],
    ['a directory', (file) => mkdir(file), 'workflow.unreadable', 'is a directory, not a workflow file'],
    ['a pipe', (file) => void execFileSync('sh', ['-c', 'mkfifo "$0"', file]), 'workflow.unreadable', 'is not a regular file'],
    [
      'a file that is too large',
      (file) => writeFile(file, 'x'.repeat(1024 * 1024 + 1)),
      'workflow.too_large',
      'is larger than 1 MiB',
    ],
    [
      'Latin-1',
      (file) => writeFile(file, Buffer.from('---\n# caf\u00e9\n---\n', 'latin1')),
      'workflow.encoding',
      'is not valid UTF-8',
    ],
    ['UTF-16', (file) => writeFile(file, Buffer.from(`\uFEFF${GOOD}`, 'utf16le')), 'workflow.encoding', 'is not valid UTF-8'],
  ];

  it.each(rows)('refuses %s with one problem', async (title, make, check, words) => {
    const file = path.join(folder, `${title}.md`);
    await make(file);
    const { problems, settings } = await loadWorkflow(file, fakeContext());
    expect(settings).toBeNull();
    expect(problems).toHaveLength(1);
    expect(formatProblem(problems[0]!)).toContain(`error: ${check}: `);
    expect(problems[0]!.message).toContain(words);
    expect(problems[0]!.message).toContain(file);
  });

  // Permissions do not bind root.
  it.skipIf(process.getuid?.() === 0)('says what to do about a file that may not be read', async () => {
    const file = path.join(folder, 'closed.md');
    await writeFile(file, GOOD, { mode: 0o000 });
    const { problems } = await loadWorkflow(file, fakeContext());
    expect(problems[0]?.message).toBe(
      `${file} cannot be read: EACCES: let the user that runs foray read it and search its folders`,
    );
  });

  it('refuses a path through a file', async () => {
    await loadBytes(GOOD);
    const { problems } = await loadWorkflow(path.join(folder, 'WORKFLOW.md', 'x'), fakeContext());
    expect(problems.map(({ check }) => check)).toEqual(['workflow.unreadable']);
  });
});
