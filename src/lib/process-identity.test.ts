import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { groupMembers, groupSurvivors, isSameProcess, processStartTime, parsePs, procTable } from './process-identity.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) killGroup(child.pid);
});

function killGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {}
}

/** A shell that leads a group of its own; settles when it has printed its first line, whose words are given. */
async function startGroup(
  script: string,
  env: Record<string, string> = {},
): Promise<{ pid: number; words: string[]; child: ChildProcess }> {
  const child = spawn('sh', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...env },
  });
  started.push(child);
  const [data] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid ?? 0, words: data.toString().trim().split(' '), child };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('who a process is', () => {
  it('is the same for as long as it lives and never again', async () => {
    const { pid, child } = await startGroup('echo up; read x');
    const startTime = processStartTime(pid);
    expect(startTime).toMatch(/./);
    expect(processStartTime(pid)).toBe(startTime);
    expect(isSameProcess({ pid, startTime: startTime ?? '' })).toBe(true);
    expect(isSameProcess({ pid, startTime: `${startTime}0` })).toBe(false);
    expect(isSameProcess({ pid, startTime: '' })).toBe(false);
    await kill(child);
    expect(processStartTime(pid)).toBeNull();
    expect(isSameProcess({ pid, startTime: startTime ?? '' })).toBe(false);
  });

  it('is gone when it is a zombie that nobody has buried', async () => {
    // The inner shell ends while its parent, now sleep, never asks for it.
    const { words } = await startGroup('sh -c "exit 0" & echo $!; exec sleep 60');
    const pid = Number(words[0]);
    while (processStartTime(pid) !== null) await new Promise(setImmediate);
    expect(procTable.find(pid)?.zombie ?? true).toBe(true);
    expect(groupMembers(started[0]?.pid ?? 0)).not.toContain(pid);
  });

  it('is read from a line whose program name holds brackets and blanks', async () => {
    const { pid } = await startGroup('printf ") S 1 (" > /proc/$$/comm; echo up; read x');
    expect(groupMembers(pid)).toEqual([pid]);
  });
});

describe('the members of a group', () => {
  it('are found by the number of the group, the children too', async () => {
    const { pid, words } = await startGroup('sleep 60 & echo $$ $!; wait');
    expect(words[0]).toBe(String(pid));
    expect(new Set(groupMembers(pid))).toEqual(new Set(words.map(Number)));
  });

  it.each([0, 1, -5, 1.5, NaN])('of a group that no session can have (%s) are none', (pgid) => {
    expect(groupMembers(pgid)).toEqual([]);
  });
});

describe('what is left of a recorded group', () => {
  const MARK = 'FORAY_RUN_ID=run-7';

  it('is the whole group while its leader is the one that was recorded', async () => {
    const { pid, words } = await startGroup('sleep 60 & echo $$ $!; wait');
    const startTime = processStartTime(pid) ?? '';
    expect(new Set(groupSurvivors({ pid, startTime }, MARK))).toEqual(new Set(words.map(Number)));
  });

  it.each([
    ['the children that carry the mark, when the leader is gone', { FORAY_RUN_ID: 'run-7' }, true],
    ['nothing that carries another mark', { FORAY_RUN_ID: 'run-77' }, false],
    ['nothing that carries none', {}, false],
  ])('is %s', async (_, env, ours) => {
    const { pid, words, child } = await startGroup(
      'sleep 60 & until grep -q sleep /proc/$!/comm; do sleep 0.01; done; echo $!; wait',
      env,
    );
    const startTime = processStartTime(pid) ?? '';
    await kill(child);
    expect(groupMembers(pid)).toEqual(words.map(Number));
    expect(groupSurvivors({ pid, startTime }, MARK)).toEqual(ours ? words.map(Number) : []);
  });

  it('is nothing of a group whose number was given to another leader', async () => {
    const { pid } = await startGroup('echo up; read x');
    expect(groupSurvivors({ pid, startTime: 'another time' }, MARK)).toEqual([]);
  });
});

/** What `ps -A -o pid=,pgid=,stat=,lstart=` prints on macOS. */
const PS_OUTPUT = `    1     1 Ss   Mon Jan  5 08:00:00 2026
  415   410 S+   Mon Jan  5 08:01:02 2026
  416   410 Z    Mon Jan  5 08:01:03 2026
`;

describe('the table of processes as ps tells it', () => {
  it('holds the group, the start and who is dead', () => {
    expect(parsePs(PS_OUTPUT)).toEqual([
      { pid: 1, pgid: 1, zombie: false, startTime: 'Mon Jan  5 08:00:00 2026' },
      { pid: 415, pgid: 410, zombie: false, startTime: 'Mon Jan  5 08:01:02 2026' },
      { pid: 416, pgid: 410, zombie: true, startTime: 'Mon Jan  5 08:01:03 2026' },
    ]);
  });

  it('is empty for a process that is gone', () => {
    expect(parsePs('')).toEqual([]);
  });
});
