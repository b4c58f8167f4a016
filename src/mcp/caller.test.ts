import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { isCallerOf } from './caller.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process whose child shows a word as its title. */
async function family(word: string): Promise<{ parent: number; child: number }> {
  const inner = `process.title = 'foray ${word}'; console.log(process.pid); setInterval(() => {}, 1000)`;
  const outer = `const { spawn } = require('node:child_process'); spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
  const parent = spawn(process.execPath, ['-e', outer], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(parent);
  const [said] = (await once(parent.stdout!, 'data')) as [Buffer];
  const child = Number(String(said).trim());
  children.push({ kill: () => process.kill(child, 'SIGKILL') } as unknown as ChildProcess);
  return { parent: parent.pid ?? 0, child };
}

describe.runIf(process.platform === 'linux')('who calls', () => {
  it('is believed when it shows the word and descends from a process of the run', async () => {
    const { parent, child } = await family('0123456789abcdef');
    const caller = { pid: child, word: '0123456789abcdef' };
    expect(isCallerOf('r', caller, () => [parent])).toBe(true);
    expect(isCallerOf('r', caller, () => [child])).toBe(true);
    expect(isCallerOf('r', { ...caller, word: 'fedcba9876543210' }, () => [parent])).toBe(false);
    expect(isCallerOf('r', caller, () => [])).toBe(false);
    expect(isCallerOf('r', { ...caller, pid: parent }, () => [parent])).toBe(false);
  });

  it('is not believed when there is no such process', () => {
    for (const pid of [0, -1, Number.NaN, 4_000_000]) expect(isCallerOf('r', { pid, word: 'x' }, () => [pid])).toBe(false);
  });
});
