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

it('is made anew where what is stored is none', () => {
  const root = aRoot();
  writeFileSync(path.join(root, '.foray-worker'), 'half a');
  const identity = workerIdentity(root);
  expect(identity).toMatch(/^[0-9a-f]{8}$/);
  expect(workerIdentity(root)).toBe(identity);
});
