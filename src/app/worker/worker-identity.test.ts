import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { workerIdentity } from './worker-identity.ts';

const folders: string[] = [];
const aRoot = (): string => {
  folders.push(mkdtempSync(path.join(os.tmpdir(), 'foray-identity-')));
  return folders.at(-1)!;
};
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

it('stays with the workspaces, and is another one elsewhere', () => {
  const [here, there] = [aRoot(), aRoot()];
  const identity = workerIdentity(here);
  expect(identity).toMatch(/^[0-9a-f]{8}$/);
  expect(workerIdentity(here)).toBe(identity);
  expect(workerIdentity(there)).not.toBe(identity);
});

it.each([
  ['is none', (file: string) => writeFileSync(file, 'half a')],
  ['is a pipe', (file: string) => void execFileSync('mkfifo', [file])],
])('is made anew where what is stored %s', (_name, put) => {
  const root = aRoot();
  put(path.join(root, '.foray-worker'));
  const identity = workerIdentity(root);
  expect(identity).toMatch(/^[0-9a-f]{8}$/);
  expect(workerIdentity(root)).toBe(identity);
});
