import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { processStartTime } from '../process-identity.ts';
import { startProcess } from './spawn.ts';
import type { ProcessOptions, RunningProcess } from './spawn.ts';
import { isAlive } from '../../../test/support/processes.ts';

const running: RunningProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.kill()));
});

async function sh(script: string, options: Partial<ProcessOptions> = {}): Promise<RunningProcess> {
  const child = await startProcess({
    command: 'sh',
    args: ['-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '' },
    ...options,
  });
  running.push(child);
  return child;
}

/** Keeps the event loop from everything else, as a machine that is busy with others does. */
function standStill(ms: number, until = (): boolean => false): void {
  const end = performance.now() + ms;
  while (performance.now() < end && !until());
}

async function linesOf(child: RunningProcess): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of child.lines()) lines.push(line);
  return lines;
}

describe('startProcess', () => {
  it('runs a program with exactly the given environment and directory', async () => {
    const child = await sh('pwd; echo "$WORD:$HOME"; echo oops >&2; exit 3', { cwd: '/', env: { WORD: 'x' } });
    expect(await linesOf(child)).toEqual(['/', 'x:']);
    expect(await child.settled).toEqual({ code: 3, signal: null });
    expect(child.stderrTail()).toBe('oops\n');
  });

  it('does not leave a process behind that could not be written down', async () => {
    const pids: number[] = [];
    const started = sh('sleep 60', {
      onSpawn(pid) {
        pids.push(pid);
        throw new Error('database is locked');
      },
    });
    await expect(started).rejects.toThrow('database is locked');
    expect(isAlive(pids[0]!)).toBe(false);
  });

  it('tells the pid before anything else', async () => {
    const pids: number[] = [];
    const child = await sh('true', { onSpawn: (pid) => pids.push(pid) });
    expect(pids).toEqual([child.pid]);
  });

  it('makes the program the leader of its own group', async () => {
    const child = await sh('cut -d " " -f 5 < /proc/$$/stat');
    expect((await linesOf(child)).map(Number)).toEqual([child.pid]);
  });

  it('names a missing program, a missing directory and a file that is not executable', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'spawn-'));
    const plain = path.join(dir, 'plain');
    await writeFile(plain, 'text');
    const missing = { failure: 'not_found', message: 'cannot start no-such-program: no such program' };
    await expect(sh('', { command: 'no-such-program' })).rejects.toMatchObject(missing);
    const inWorkspace = `cannot start ./agent.sh: no such program in ${dir}`;
    await expect(sh('', { command: './agent.sh', cwd: dir })).rejects.toMatchObject({ message: inWorkspace });
    await expect(sh('', { cwd: path.join(dir, 'none') })).rejects.toMatchObject({ failure: 'no_directory' });
    await expect(sh('', { command: plain })).rejects.toMatchObject({ failure: 'not_executable' });
    await expect(sh('', { command: 'a\0b' })).rejects.toMatchObject({ failure: 'failed' });
    await rm(dir, { recursive: true });
  });

  it('writes to its input and closes it', async () => {
    const child = await sh('cat', { stdin: 'pipe' });
    expect(await child.stdin.write('one\ntwo')).toBe(true);
    child.stdin.end();
    expect(await linesOf(child)).toEqual(['one', 'two']);
  });

  it('answers false for input that a dead or deaf process does not read', async () => {
    const dead = await sh('exit 0', { stdin: 'pipe' });
    await dead.exited;
    expect(await dead.stdin.write('x'.repeat(1_000_000))).toBe(false);
    const none = await sh('exit 0');
    expect(await none.stdin.write('x')).toBe(false);
    const deaf = await sh('exec sleep 60', { stdin: 'pipe' });
    const written = deaf.stdin.write('x'.repeat(10_000_000));
    await deaf.kill();
    expect(await written).toBe(false);
  });

  it('delivers every line to a reader that starts late and takes its time', async () => {
    const child = await sh('seq 1 50000');
    let last = 0;
    for await (const line of child.lines()) {
      last += 1;
      if (Number(line) !== last) break;
      if (last % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(last).toBe(50_000);
  });

  it('loses nothing of what a process printed just before it exited while the reader was busy', async () => {
    const child = await sh('seq 1 2000');
    const lines = child.lines();
    expect((await lines.next()).value).toBe('1');
    await child.settled;
    let count = 1;
    for await (const line of lines) {
      count += 1;
      expect(line).toBe(String(count));
    }
    expect(count).toBe(2000);
  });

  it('does not hold up a process whose reader left', async () => {
    const child = await sh('seq 1 300000; exit 4');
    for await (const line of child.lines()) if (line === '3') break;
    expect(await child.settled).toEqual({ code: 4, signal: null });
  });

  it('keeps the beginning and the end of a flood of errors', async () => {
    const child = await sh('echo first >&2; seq 1 100000 >&2; echo last >&2; exit 1');
    await child.settled;
    expect(child.stderrTail()).toMatch(/^first\n1\n[^]*\[\d+ bytes left out\][^]*100000\nlast\n$/);
    expect(child.stderrTail().length).toBeLessThan(66_000);
  });
});

/** Leaves a program behind that has told its pid and left the group. */
const outside = (program: string, args = ''): string =>
  `setsid sh -c "echo \\$\\$; exec ${program} ${args}" & until grep -q ${program} /proc/$!/comm; do sleep 0.01; done; exit 0`;

describe('the end of a process', () => {
  it('is told with its last words, also when it is heard of first and we are held up before they are read', async () => {
    const child = await sh('read -r go; echo "last words" >&2', { stdin: 'pipe', drainMs: 50 });
    const other = spawn('sh', ['-c', 'read -r go; echo x'], { stdio: ['pipe', 'pipe', 'ignore'] });
    // The end of one process makes Node look for others that ended: it hears of ours before it has looked at its pipes.
    other.stdout.once('data', () => {
      void child.stdin.write('\n');
      standStill(2_000, () => processStartTime(child.pid) === null);
    });
    void child.exited.then(() => setImmediate(() => standStill(200)));
    other.stdin.write('\n');
    standStill(2_000, () => processStartTime(other.pid ?? 0) === null);
    await child.settled;
    expect(child.stderrTail()).toBe('last words\n');
  });

  it('ends the lines although a grandchild holds the output, and ends the grandchild', async () => {
    const child = await sh('sleep 60 & echo $!; exit 5', { drainMs: 50 });
    const [pid] = await linesOf(child);
    expect(await child.settled).toEqual({ code: 5, signal: null });
    expect(isAlive(Number(pid))).toBe(false);
  });

  it('ends the lines although a grandchild outside of the group holds the output', async () => {
    const child = await sh(outside('sleep', '60'), { drainMs: 50 });
    const [pid] = await linesOf(child);
    expect(await child.settled).toEqual({ code: 0, signal: null });
    expect(isAlive(Number(pid))).toBe(true);
    process.kill(Number(pid), 'SIGKILL');
  });

  it('ends the lines although a grandchild outside of the group floods the output', async () => {
    const child = await sh(outside('yes'), { drainMs: 50 });
    const lines = child.lines();
    const pid = Number((await lines.next()).value);
    for await (const line of lines) if (line === '') break;
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('stops politely first', async () => {
    const child = await sh('trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.01; done');
    const lines = child.lines();
    await lines.next();
    await child.stop(30_000);
    expect((await lines.next()).value).toBe('bye');
    expect(await child.exited).toEqual({ code: 7, signal: null });
  });

  it('kills a group that ignores the polite signal, children included', async () => {
    const child = await sh('trap "" TERM; sh -c \'trap "" TERM; echo $$; while :; do sleep 0.01; done\' & wait; wait');
    const lines = child.lines();
    const grandchild = Number((await lines.next()).value);
    await Promise.all([child.stop(50), child.stop(50)]);
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(grandchild)).toBe(false);
  });

  it('kills at once while it is being stopped', async () => {
    const child = await sh('trap "" TERM; echo ready; while :; do sleep 0.01; done');
    await child.lines().next();
    const stopped = child.stop(60_000);
    await child.kill();
    await stopped;
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });
});
