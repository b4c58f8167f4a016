import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

it.each(['x\n', 'SQLite format 3\0 and no more', 'x'.repeat(5_000)])(
  'is taken whatever an agent wrote into its file: %j',
  async (text) => {
    writeFileSync(path.join(root, '.foray-root.lock'), text);
    mkdirSync(path.join(root, '.foray-root.lock-wal'));
    execFileSync('mkfifo', [path.join(root, '.foray-root.lock-shm')]);
    const own = locks();
    await own.take(root);
    expect(statSync(path.join(root, '.foray-root.lock')).size).toBe(0);
    own.release();
  },
);

it('is not taken from one who holds it, whatever an agent wrote into its file', async () => {
  const holder = path.join(root, 'holder.mjs');
  writeFileSync(
    holder,
    `import { DatabaseSync } from ${JSON.stringify(import.meta.resolve('@photostructure/sqlite'))};
     const db = new DatabaseSync(${JSON.stringify(path.join(root, '.foray-root.lock'))});
     db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
     console.log('held');
     setInterval(() => db.isOpen, 1_000);`,
  );
  const child = spawn(process.execPath, [holder], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  writeFileSync(path.join(root, '.foray-root.lock'), 'x'.repeat(5_000));
  await expect(locks().take(root)).rejects.toThrow('is in use by another foray');
  child.kill();
  await once(child, 'exit');
});
