import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from './find-program.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'find-program-'));
  await mkdir(path.join(dir, 'folder'));
  for (const [name, mode] of Object.entries({ good: 0o755, plain: 0o644 })) {
    await writeFile(path.join(dir, name), '#!/bin/sh\n');
    await chmod(path.join(dir, name), mode);
  }
});
afterAll(() => rm(dir, { recursive: true }));

describe('findProgram', () => {
  it.each([
    { program: 'good', state: 'found' },
    { program: 'plain', state: 'not_executable' },
    { program: 'none', state: 'missing' },
  ])('$program on the PATH is $state', async ({ program, state }) => {
    const env = { PATH: `/no/such/folder::${dir}` };
    expect(await findProgram(program, env)).toBe(state);
    expect(await findProgram(path.join(dir, program), {})).toBe(state);
  });

  it('a folder is no program, and told where it is named by its path', async () => {
    expect(await findProgram('folder', { PATH: dir })).toBe('missing');
    expect(await findProgram(path.join(dir, 'folder'), {})).toBe('directory');
  });

  it('finds nothing without a PATH', async () => {
    expect(await findProgram('good', {})).toBe('missing');
  });

  it('leaves a path from the workspace alone', async () => {
    expect(await findProgram('./agent.sh', {})).toBe('found');
  });
});
