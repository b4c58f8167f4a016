import { execFileSync, fork } from 'node:child_process';
import fs, { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { joined } from './content.ts';
import type { Content } from './content.ts';
import type { FileVersion } from './stamp.ts';
import { rewriteFile, UnreadableTextError } from './write-back.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'write-back-'));
  file = path.join(directory, 'numbers');
});
afterEach(() => rm(directory, { recursive: true }));

const rewrite = (edit: (text: string) => string | null): Promise<void> =>
  rewriteFile(file, {
    edit(content) {
      const text = edit(joined(content).toString());
      return text === null ? null : [Buffer.from(text)];
    },
  });
const addLine = (line: string) => (text: string) => `${text}${line}\n`;
const lines = async (): Promise<string[]> => (await readFile(file, 'utf8')).trim().split('\n');

/** What is imported meanwhile is new, and calls what the test put in the place of functions of Node. */
async function withOwnModules(work: () => Promise<void>): Promise<void> {
  syncBuiltinESMExports();
  vi.resetModules();
  try {
    await work();
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    vi.resetModules();
  }
}

describe('rewriteFile', () => {
  it('keeps every change of many writers at once', async () => {
    await writeFile(file, '');
    const names = Array.from({ length: 12 }, (_, index) => `line ${index}`);
    await Promise.all(names.map((name) => rewrite(addLine(name))));
    expect((await lines()).sort()).toEqual([...names].sort());
    expect(await readdir(directory)).toEqual(['numbers']);
  });

  it.each([
    { how: 'in place', write: (text: string) => writeFileSync(file, text) },
    {
      how: 'by replacing the file',
      write(text: string) {
        writeFileSync(`${file}.theirs`, text);
        renameSync(`${file}.theirs`, file);
      },
    },
  ])('never overwrites an edit that somebody made $how meanwhile', async ({ write }) => {
    await writeFile(file, 'start\n');
    let calls = 0;
    await rewrite((text) => {
      calls += 1;
      if (calls <= 3) write(`${readFileSync(file, 'utf8')}theirs ${calls}\n`);
      return `${text}ours\n`;
    });
    expect(await lines()).toEqual(['start', 'theirs 1', 'theirs 2', 'theirs 3', 'ours']);
  });

  it('takes over what somebody wrote into the file it just replaced', async () => {
    await writeFile(file, 'start\n');
    const theirs = openSync(file, 'r+');
    let replacements = 0;
    await rewriteFile(file, {
      edit: (content) => [...content, Buffer.from('ours\n')],
      replaced() {
        replacements += 1;
        // They had the old file open.
        if (replacements === 1) writeSync(theirs, 'start\ntheirs\n', 0);
      },
    });
    closeSync(theirs);
    expect(await lines()).toEqual(['start', 'theirs', 'ours']);
  });

  it('has the text on the disk before it takes the place of the old one, and its directory afterwards', async () => {
    await writeFile(file, 'start\n');
    const steps: string[] = [];
    const { fsync, renameSync: rename } = fs;
    vi.spyOn(fs, 'fsync').mockImplementation((descriptor, done) => {
      const stats = fs.fstatSync(descriptor);
      steps.push(stats.isDirectory() ? 'sync the directory' : `sync ${stats.size} bytes`);
      fsync(descriptor, done);
    });
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      steps.push(`rename to ${path.basename(String(to))}`);
      rename(from, to);
    });
    await withOwnModules(async () => {
      const fresh = await import('./write-back.ts');
      await fresh.rewriteFile(file, { edit: () => [Buffer.from('ours')] });
    });
    expect(steps).toEqual(['sync 4 bytes', 'rename to numbers', 'sync the directory']);
  });

  it('needs not read again what it wrote, and sees every edit of it, also one of the same length in the same moment', async () => {
    await writeFile(file, 'start 000\n');
    let known: FileVersion | null = null;
    const bases: Content[] = [];
    const next = (content: Content): Content => [
      Buffer.from(`ours ${String(Number(joined(content).toString().slice(5)) + 1).padStart(4, '0')}\n`),
    ];
    const write = (edit: (content: Content) => Content): Promise<void> =>
      rewriteFile(file, { known, edit, replaced: (version) => (known = version) });
    await write(() => [Buffer.from('ours 0000\n')]);
    for (let round = 0; round < 40; round += 1) {
      const [before, isEdited] = [known as FileVersion | null, round % 2 === 1];
      if (isEdited) writeFileSync(file, 'them 0500\n');
      await write((content) => {
        bases.push(content);
        return next(content);
      });
      expect(bases.at(-1) === before?.content).toBe(!isEdited);
      expect(await lines()).toEqual([isEdited ? 'ours 0501' : round === 0 ? 'ours 0001' : 'ours 0502']);
    }
  });

  it('gives up after twenty edits of somebody who is always first', async () => {
    await writeFile(file, 'start\n');
    let calls = 0;
    const rewritten = rewrite((text) => {
      calls += 1;
      writeFileSync(file, `theirs ${calls}\n`);
      return `${text}ours\n`;
    });
    await expect(rewritten).rejects.toThrow('20 times somebody else changed it first');
    expect(await lines()).toEqual(['theirs 20']);
    expect(await readdir(directory)).toEqual(['numbers']);
  });

  it('reads again what is unreadable for a moment', async () => {
    await writeFile(file, '');
    let calls = 0;
    await rewrite((text) => {
      calls += 1;
      if (calls === 2) writeFileSync(file, 'whole\n');
      if (text === '') throw new UnreadableTextError(new Error('half'));
      return `${text}ours\n`;
    });
    expect(await lines()).toEqual(['whole', 'ours']);
  });

  it('writes nothing when there is nothing to do, or when the edit fails', async () => {
    await writeFile(file, 'start\n');
    await rewrite(() => null);
    const failing = rewrite(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
  });

  it('takes turns with other processes', async () => {
    await writeFile(file, '');
    const script = path.join(directory, 'writer.cjs');
    // Does by hand what another daemon does: lock, read, write, unlock.
    await writeFile(
      script,
      `const fs = require('node:fs'); const file = ${JSON.stringify(file)}; let left = 40;
       const step = () => { try { fs.writeFileSync(file + '.foray-lock', process.pid + ' ' + require('node:os').hostname(), { flag: 'wx' }); }
         catch { return setTimeout(step, 1); }
         const text = fs.readFileSync(file, 'utf8'); fs.writeFileSync(file + '.t', text + 'theirs\\n'); fs.renameSync(file + '.t', file);
         fs.rmSync(file + '.foray-lock'); if (--left > 0) setTimeout(step, 0); };
       step();`,
    );
    const other = fork(script);
    const ended = new Promise((resolve) => other.once('exit', resolve));
    for (let count = 0; count < 20; count += 1) await rewrite(addLine('ours'));
    await ended;
    const found = await lines();
    expect([found.filter((line) => line === 'ours').length, found.filter((line) => line === 'theirs').length]).toEqual([20, 40]);
  });

  it('is not held up for ever by a pipe in the place of its lock', async () => {
    await writeFile(file, '');
    execFileSync('mkfifo', [`${file}.foray-lock`]);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(`${file}.foray-lock`, longAgo, longAgo);
    await rewrite(addLine('one'));
    expect(await lines()).toEqual(['one']);
    expect(existsSync(`${file}.foray-lock`)).toBe(false);
  });

  it('takes the lock of a writer that died, and one that is too old', async () => {
    await writeFile(file, '');
    await writeFile(`${file}.foray-lock`, `999999999 ${hostname()} x\n`);
    await rewrite(addLine('one'));
    await writeFile(`${file}.foray-lock`, `1 elsewhere x\n`);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(`${file}.foray-lock`, longAgo, longAgo);
    await rewrite(addLine('two'));
    expect(await lines()).toEqual(['one', 'two']);
    expect(existsSync(`${file}.foray-lock`)).toBe(false);
  });
});
