import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceBench } from '../../test/support/workspaces.ts';
import type { WorkspaceBench } from '../../test/support/workspaces.ts';
import { createMask } from '../lib/http/index.ts';
import { SCRIPT_ENVIRONMENT } from './script.ts';
import { isAlive } from '../../test/support/processes.ts';

const signal = new AbortController().signal;
const everyVariable = Object.fromEntries(SCRIPT_ENVIRONMENT.map((name) => [name, `the ${name}`]));
let bench: WorkspaceBench;

beforeEach(async () => {
  bench = await createWorkspaceBench({ ...everyVariable, PATH: process.env['PATH'] ?? '', TRACKER_TOKEN: 'x', EDITOR: 'vi' });
});
afterEach(() => bench.cleanUp());

/** Prepares the workspace and runs a script as its `before_run`; resolves with the error, or null. */
async function beforeRun(script: string, timeoutMs = 30_000, stop: AbortSignal = signal): Promise<string | null> {
  const subject = bench.subject({ beforeRun: script, timeoutMs });
  await bench.workspaces.prepare(subject, signal);
  return bench.workspaces.beforeRun(subject, stop).then(
    () => null,
    (error: unknown) => (error as Error).message,
  );
}

const inWorkspace = (name: string): string => path.join(bench.root, 'ABC-1', name);
const hookRecord = (): unknown => bench.log.find(({ message }) => message === 'hook failed');

describe('a hook', () => {
  it('runs in the workspace with the allow-listed environment and the facts of the issue, nothing else', async () => {
    expect(await beforeRun('pwd > where; env > environment')).toBeNull();
    expect(await readFile(inWorkspace('where'), 'utf8')).toBe(`${bench.root}/ABC-1\n`);
    const shellOwn = /^(PWD|OLDPWD|SHLVL|_)=/;
    const lines = (await readFile(inWorkspace('environment'), 'utf8')).trim().split('\n');
    expect(lines.filter((line) => !shellOwn.test(line)).sort()).toEqual(
      [
        ...Object.entries({ ...everyVariable, PATH: process.env['PATH'] }).map(([name, value]) => `${name}=${value}`),
        'FORAY_ISSUE_ID=id-1',
        'FORAY_ISSUE_IDENTIFIER=ABC-1',
        'FORAY_ISSUE_TITLE=A title',
        `FORAY_WORKSPACE=${bench.root}/ABC-1`,
        'FORAY_ATTEMPT=2',
      ].sort(),
    );
  });

  it('may use quotes, several lines, its own status and the devices of a terminal session', async () => {
    expect(await beforeRun(`set -e\necho "it's \\$fine" > out\ncat < /dev/stdin\necho x > /dev/stderr\ntest 1 = 1`)).toBeNull();
    expect(await readFile(inWorkspace('out'), 'utf8')).toBe("it's $fine\n");
  });

  it('takes a title that no variable could hold', async () => {
    const subject = {
      ...bench.subject({ afterCreate: 'printf %s "$FORAY_ISSUE_TITLE" > title' }),
      title: `a\0b${'x'.repeat(500_000)}`,
    };
    await bench.workspaces.prepare(subject, signal);
    expect(await readFile(inWorkspace('title'), 'utf8')).toBe(`ab${'x'.repeat(4094)}`);
  });

  it('shows no part of a secret, neither where its output was cut nor where it is coloured', async () => {
    const token = 'ghp_Zq8vT3xWm2LpR7yKc5NbD9sHfJ1aUeG4oQiV';
    bench = await createWorkspaceBench({}, createMask([token]));
    await beforeRun(`for i in $(seq 700); do echo ${token}; done; printf 'ghp_\\033[31m${token.slice(4)}'; exit 3`);
    const output = (hookRecord() as { attributes: { hook_output: string } }).attributes.hook_output;
    const [leftOut, ...lines] = output.split('\n');
    expect(leftOut).toMatch(/^\[\d+ bytes left out\]$/);
    expect(new Set(lines)).toEqual(new Set(['[redacted]']));
  });

  it('tells its status and the end of what it printed, in order, without secrets', async () => {
    const message = await beforeRun('echo one; echo "two s3cret" >&2; echo three; exit 3');
    expect(message).toBe('workspace: hook before_run: exit status 3: one | two *** | three');
    expect(hookRecord()).toMatchObject({
      level: 'warn',
      attributes: {
        issue_id: 'id-1',
        issue_identifier: 'ABC-1',
        hook: 'before_run',
        reason: 'exit status 3',
        hook_output: 'one\ntwo ***\nthree',
      },
    });
  });

  it('shows the last 8 KiB of a flood', async () => {
    await beforeRun('seq 1 200000; exit 1');
    const { hook_output: output } = (hookRecord() as { attributes: { hook_output: string } }).attributes;
    expect(output).toHaveLength(8192);
    expect(output.endsWith('199999\n200000')).toBe(true);
  });

  it('is not waited for when something in its background holds the output, and its group is ended', async () => {
    const startedAt = performance.now();
    expect(await beforeRun('sleep 60 & echo $! > pid')).toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(isAlive((await readFile(inWorkspace('pid'), 'utf8')).trim())).toBe(false);
    expect(bench.live.size).toBe(0);
  });

  it('is ended at the timeout with everything it started', async () => {
    const message = await beforeRun('sleep 60 & echo $! > pid; echo waiting; wait', 2_000);
    expect(message).toBe('workspace: hook before_run: timed out after 2000 ms, see hooks.timeout_ms: waiting');
    expect(isAlive((await readFile(inWorkspace('pid'), 'utf8')).trim())).toBe(false);
  });

  it('may clean up when it is stopped', async () => {
    const message = await beforeRun(
      'trap "echo cleaned; echo x > cleaned; exit 0" TERM; echo on; while :; do sleep 0.01; done',
      2_000,
    );
    expect(message).toMatch(/timed out after 2000 ms, see hooks.timeout_ms: on .*\| cleaned$/);
    expect(existsSync(inWorkspace('cleaned'))).toBe(true);
  });

  it('is killed when it ignores that', async () => {
    expect(await beforeRun('trap "" TERM; while :; do sleep 0.01; done', 50)).toMatch(/timed out after 50 ms/);
    expect(bench.live.size).toBe(0);
  });

  it('is a failure when its shell is killed, whatever the outer status', async () => {
    expect(await beforeRun('kill -9 $$')).toBe('workspace: hook before_run: exit status 137: Killed');
    expect(await beforeRun('kill -9 $PPID')).toMatch(/was ended from outside/);
  });

  it('is ended by an abort', async () => {
    const stop = new AbortController();
    const result = beforeRun('touch begun; sleep 60', 60_000, stop.signal);
    await expect.poll(() => existsSync(inWorkspace('begun'))).toBe(true);
    stop.abort();
    expect(await result).toBe('workspace: hook before_run: stopped before it finished');
    expect(bench.live.size).toBe(0);
  });

  it('does not begin after an abort', async () => {
    expect(await beforeRun('touch begun', 1000, AbortSignal.abort())).toBe('workspace: hook before_run: stopped before it began');
    expect(existsSync(inWorkspace('begun'))).toBe(false);
  });
});

describe('each hook', () => {
  it('after_create runs once, in the still empty directory', async () => {
    const subject = bench.subject({ afterCreate: 'ls -A > ../seen; echo run >> ../runs' });
    expect(await bench.workspaces.prepare(subject, signal)).toEqual({ path: `${bench.root}/ABC-1`, created: true });
    expect(await bench.workspaces.prepare(subject, signal)).toEqual({ path: `${bench.root}/ABC-1`, created: false });
    expect(await readFile(path.join(bench.root, 'seen'), 'utf8')).toBe('');
    expect(await readFile(path.join(bench.root, 'runs'), 'utf8')).toBe('run\n');
  });

  it('after_create that fails takes the fresh directory with it', async () => {
    const failing = bench.subject({ afterCreate: 'touch half; exit 1' });
    await expect(bench.workspaces.prepare(failing, signal)).rejects.toThrow('workspace: hook after_create: exit status 1');
    expect(await readdir(bench.root)).toEqual(['.foray-marks']);
  });

  it('after_create runs again in a clean directory after a crash in its middle', async () => {
    const subject = bench.subject({ afterCreate: 'ls -A > ../seen' });
    await bench.workspaces.prepare(subject, signal);
    const { markUnfinished } = await import('./unfinished-mark.ts');
    markUnfinished(path.join(bench.root, 'ABC-1'));
    await writeFile(inWorkspace('half'), 'clone');
    expect(await bench.workspaces.prepare(subject, signal)).toMatchObject({ created: true });
    expect(await readdir(path.join(bench.root, 'ABC-1'))).toEqual(['.foray']);
    expect((await readdir(bench.root)).sort()).toEqual(['.foray-marks', 'ABC-1', 'seen']);
  });

  it('after_run and before_remove that fail only warn', async () => {
    const subject = bench.subject({ afterRun: 'exit 1', beforeRemove: 'pwd > ../removing; exit 2' });
    await bench.workspaces.prepare(subject, signal);
    await bench.workspaces.afterRun(subject, signal);
    expect(await bench.workspaces.remove(subject, signal)).toMatchObject({ removed: true });
    expect(await readFile(path.join(bench.root, 'removing'), 'utf8')).toBe(`${bench.root}/ABC-1\n`);
    expect(bench.log.filter(({ level }) => level === 'warn').map(({ attributes }) => attributes['hook'])).toEqual([
      'after_run',
      'before_remove',
    ]);
  });

  it('after_run of a workspace that is gone only warns', async () => {
    await bench.workspaces.afterRun(bench.subject({ afterRun: 'true' }), signal);
    expect(hookRecord()).toMatchObject({ attributes: { hook: 'after_run', issue_identifier: 'ABC-1' } });
  });
});

describe('a verification command', () => {
  const check = (command: string, timeoutMs = 30_000): Parameters<WorkspaceBench['workspaces']['verify']>[0] => ({
    command,
    path: path.join(bench.root, 'ABC-1'),
    timeoutMs,
    runId: 'run-1',
  });

  it('passes or fails with the end of its output', async () => {
    await mkdir(path.join(bench.root, 'ABC-1'), { recursive: true });
    expect(await bench.workspaces.verify(check('pwd'), signal)).toEqual({ ok: true, output: `${bench.root}/ABC-1` });
    expect(await bench.workspaces.verify(check('echo s3cret; exit 4'), signal)).toEqual({
      ok: false,
      output: '***\n[exit status 4]',
    });
    const late = await bench.workspaces.verify(check('sleep 60', 50), signal);
    expect(late).toEqual({ ok: false, output: '[timed out after 50 ms, see self_review.verification_timeout_ms]' });
  });

  it('runs nowhere but in a workspace, and ends with an abort', async () => {
    await expect(bench.workspaces.verify({ ...check('true'), path: bench.base }, signal)).rejects.toThrow('is not a workspace');
    await mkdir(path.join(bench.root, 'ABC-1'), { recursive: true });
    await expect(bench.workspaces.verify(check('true'), AbortSignal.abort())).rejects.toThrow('stopped before it finished');
  });
});
