import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive } from '../../test/support/processes.ts';
import { runGit } from './command.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'git-command-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('an abort ends git, and what git started', { timeout: 15_000 }, async () => {
  const noted = path.join(folder, 'pid');
  const hanging = `!echo $$ > "${noted}.new" && mv "${noted}.new" "${noted}" && exec sleep 60`;
  const stopping = new AbortController();
  const command = { args: ['-c', `alias.hang=${hanging}`, 'hang'], cwd: folder, timeoutMs: 30_000 };
  const ended = runGit({ ...command, env: { PATH: process.env['PATH'] ?? '' } }, stopping.signal).catch(
    (error: unknown) => error,
  );
  await expect.poll(() => existsSync(noted)).toBe(true);
  const reason = new Error('stopped by an operator');
  stopping.abort(reason);
  expect(await ended).toBe(reason);
  await expect.poll(() => isAlive(Number(readFileSync(noted, 'utf8')))).toBe(false);
});
