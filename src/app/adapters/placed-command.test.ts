import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placedCommand } from './placed-command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-command-'));
  await writeFile(path.join(folder, 'agent.sh'), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('finds the program of an agent beside the workflow file, and in the home folder', () => {
  const placed = (...command: string[]) => placedCommand(command, folder, '/home/ann');
  expect(placed('./agent.sh', '-x')).toEqual([path.join(folder, 'agent.sh'), '-x']);
  expect(placed('~/bin/agent')).toEqual(['/home/ann/bin/agent']);
  for (const as of ['./in-workspace.sh', '/opt/agent', 'agent.sh', 'claude']) expect(placed(as, 'y')).toEqual([as, 'y']);
  expect(placedCommand(null, folder, undefined)).toBeNull();
});
