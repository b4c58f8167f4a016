import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRootLocks } from './root-locks.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'foray-root-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const locks = () => createRootLocks({ workflowPath: '/w.md', database: '/w.db', sharedRecords: null, rootKey: 'workspace.root' });

const PLANTED: Readonly<Record<string, (file: string) => void>> = {
  pipe: (file) => void execFileSync('mkfifo', [file]),
  link: (file) => symlinkSync(path.join(root, 'theirs'), file),
  folder: (file) => mkdirSync(path.join(file, 'deep'), { recursive: true }),
};

it.each(Object.keys(PLANTED).flatMap((kind) => ['.foray-root.lock', '.foray-root'].map((name) => [kind, name] as const)))(
  'a %s that stands for %s neither holds the start up nor leaves it without its lock',
  async (kind, name) => {
    writeFileSync(path.join(root, 'theirs'), 'theirs');
    PLANTED[kind]?.(path.join(root, name));
    const own = locks();
    await own.take(root);
    expect(lstatSync(path.join(root, '.foray-root.lock')).isFile()).toBe(true);
    expect(JSON.parse(readFileSync(path.join(root, '.foray-root.json'), 'utf8'))).toMatchObject({ pid: process.pid });
    own.release();
    expect(readFileSync(path.join(root, 'theirs'), 'utf8')).toBe('theirs');
    expect(existsSync(path.join(root, 'theirs.lock'))).toBe(false);
  },
);
