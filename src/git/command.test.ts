import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

describe('a program that left the group of git and holds its pipes', () => {
  const env = { PATH: process.env['PATH'] ?? '' };
  const { signal } = new AbortController();
  let noted: string;
  beforeEach(() => {
    noted = path.join(folder, 'pid');
  });
  afterEach(() => {
    if (isAlive(notedPid())) process.kill(notedPid(), 'SIGKILL');
  });
  const notedPid = () => Number(readFileSync(noted, 'utf8'));
  /** An alias that starts one, and goes on once it runs. */
  const leaving = (rest: string, start = 'setsid') =>
    `alias.leave=!${start} sh -c 'echo $$ > "${noted}.new" && mv "${noted}.new" "${noted}" && exec sleep 60' & ` +
    `while [ ! -e "${noted}" ]; do sleep 0.01; done; ${rest}`;
  const leave = (setting: string, timeoutMs: number, until = signal) =>
    runGit({ args: ['-c', setting, 'leave'], cwd: folder, env, timeoutMs }, until);

  it('does not hold up the answer, and is ended', { timeout: 15_000 }, async () => {
    expect(await leave(leaving('echo told; echo why >&2; exit 3'), 30_000)).toEqual({
      code: 3,
      stdout: 'told\n',
      stderr: 'why\n',
    });
    await expect.poll(() => isAlive(notedPid())).toBe(false);
  });

  it('does not hold it up where it cannot be found', { timeout: 15_000 }, async () => {
    expect(await leave(leaving('echo told', 'env -i setsid'), 30_000)).toEqual({ code: 0, stdout: 'told\n', stderr: '' });
    expect(isAlive(notedPid())).toBe(true);
  });

  it('does not hold up a timeout', { timeout: 15_000 }, async () => {
    await expect(leave(leaving('exec sleep 60', 'env -i setsid'), 1_000)).rejects.toThrow('did not end within 1 s');
  });

  it('does not hold up an abort', { timeout: 15_000 }, async () => {
    const stopping = new AbortController();
    const ended = leave(leaving('exec sleep 60', 'env -i setsid'), 30_000, stopping.signal).catch((error: unknown) => error);
    await expect.poll(() => existsSync(noted)).toBe(true);
    const reason = new Error('stopped by an operator');
    stopping.abort(reason);
    expect(await ended).toBe(reason);
  });
});
