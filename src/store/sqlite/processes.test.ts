import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, expect, it } from 'vitest';
import { isSameProcess } from '../../lib/process-identity.ts';
import { openStore } from './open.ts';
import { anOwner, CLOCK, makeFolder } from '../../../test/support/store/database.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const open = (id: string, name: string) => openStore({ path: folder.file(name), owner: anOwner({ id }), clock: CLOCK });

it('tells the next daemon which groups were left, and who they are', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const first = await open('first', 'left.db');
  first.processes.started(pid, 'run-1');
  first.processes.started(process.pid, 'run-2');
  first.processes.ended(process.pid);
  expect(first.processes.leftovers()).toEqual([]);
  await first.close();

  const second = await open('second', 'left.db');
  const [leftover] = second.processes.leftovers();
  expect(second.processes.leftovers()).toEqual([{ pid, startTime: expect.stringMatching(/./), owner: 'run-1' }]);
  expect(leftover && isSameProcess(leftover)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(leftover && isSameProcess(leftover)).toBe(false);

  second.processes.started(process.pid, 'run-3');
  second.processes.clear();
  expect(second.processes.leftovers()).toEqual([]);
  await second.close();

  const third = await open('third', 'left.db');
  expect(third.processes.leftovers().map((entry) => entry.owner)).toEqual(['run-3']);
  await third.close();
});

it('records a leader that was gone already, as one that no process can be mistaken for', async () => {
  const child = spawn('true', { stdio: 'ignore' });
  await once(child, 'exit');
  const first = await open('first', 'gone.db');
  first.processes.started(child.pid ?? 0, 'run-1');
  await first.close();
  const second = await open('second', 'gone.db');
  const leftovers = second.processes.leftovers();
  expect(leftovers).toEqual([{ pid: child.pid, startTime: '', owner: 'run-1' }]);
  expect(leftovers.some(isSameProcess)).toBe(false);
  await second.close();
});

it('takes the end of a process that outlived the store in silence', async () => {
  const store = await open('first', 'late.db');
  store.processes.started(process.pid, 'run-1');
  await store.close();
  expect(() => store.processes.ended(process.pid)).not.toThrow();
});
