import { execFileSync } from 'node:child_process';
import { link, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readShortFile, replaceFile, replaceShortFile } from './short-file.ts';

let directory: string;
const at = (name: string): string => path.join(directory, name);

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'short-file-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a short file', () => {
  it('is written, read, and missed', () => {
    replaceShortFile(at('mark'), 'longer than the next\n');
    replaceShortFile(at('mark'), 'line\n');
    expect([readShortFile(at('mark')), readShortFile(at('none'))]).toEqual(['line\n', null]);
  });

  it('whose place an agent gave to a pipe holds nobody up', () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(readShortFile(at('pipe'))).toBe('');
  });

  it('whose place an agent gave to a link or a directory leads nowhere', async () => {
    await writeFile(at('elsewhere'), 'theirs');
    await symlink(at('elsewhere'), at('link'));
    expect([readShortFile(at('link')), readShortFile(directory)]).toEqual(['', '']);
  });

  it('leaves the other name of a file alone, whose place it takes', async () => {
    await writeFile(at('elsewhere'), 'theirs');
    await link(at('elsewhere'), at('mark'));
    replaceFile(at('mark'), 'ours\n');
    expect([readShortFile(at('mark')), readShortFile(at('elsewhere'))]).toEqual(['ours\n', 'theirs']);
  });

  it('takes the place of a pipe or a link', async () => {
    await writeFile(at('elsewhere'), 'theirs');
    await symlink(at('elsewhere'), at('link'));
    execFileSync('mkfifo', [at('pipe')]);
    for (const name of ['link', 'pipe', 'new']) replaceShortFile(at(name), 'ours\n');
    for (const name of ['link', 'pipe', 'new']) expect(readShortFile(at(name))).toBe('ours\n');
    expect(await readFile(at('elsewhere'), 'utf8')).toBe('theirs');
    expect(await readdir(directory)).toHaveLength(4);
  });
});
