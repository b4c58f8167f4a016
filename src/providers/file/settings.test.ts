import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { provider } from './index.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'file-settings-'));
});
afterEach(() => rm(directory, { recursive: true }));

function check(options: Record<string, unknown>, more: Partial<ProviderCheckInput> = {}): readonly Problem[] {
  const none = { apiKey: null, project: null, endpoint: null, activeStates: null, terminalStates: null };
  const states = { handoffState: null, inProgressState: null, queryFilter: null };
  return provider.check({ ...none, ...states, options, env: {}, workflowDir: directory, ...more });
}

describe('the block file', () => {
  it('takes a path and nothing else', () => {
    expect(provider.options.safeParse({ path: 'x' }).success).toBe(true);
    expect(provider.options.safeParse({}).success).toBe(true);
    expect(provider.options.safeParse({ path: 5 }).success).toBe(false);
    expect(provider.options.safeParse({ path: 'x', paht: 'y' }).success).toBe(false);
  });

  it.each([{}, { path: '' }, { path: '  ' }])('without a path is an error: %o', (options) => {
    expect(check(options)).toMatchObject([{ severity: 'error', check: 'file.path', key: ['file', 'path'] }]);
  });

  it('with a file or directory beside the workflow file is fine', async () => {
    await writeFile(path.join(directory, 'issues.json'), '[]');
    expect(check({ path: 'issues.json' })).toEqual([]);
    expect(check({ path: directory })).toEqual([]);
  });

  it('with a path that does not exist yet is a warning', () => {
    expect(check({ path: 'later.json' })).toMatchObject([
      {
        severity: 'warning',
        check: 'file.path.missing',
        message: expect.stringContaining(path.join(directory, 'later.json')) as string,
      },
    ]);
  });

  it('with a path that can never hold issues is an error', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path.join(directory, 'pipe')]);
    await writeFile(path.join(directory, 'plain'), '');
    expect(check({ path: 'pipe' })).toMatchObject([{ severity: 'error', check: 'file.path' }]);
    expect(check({ path: 'plain/deeper' })).toMatchObject([{ severity: 'error', check: 'file.path' }]);
  });

  it('warns of a filter that has no meaning here', () => {
    expect(check({ path: directory }, { queryFilter: 'x' })).toMatchObject([
      { severity: 'warning', check: 'tracker.query_filter.unused' },
    ]);
  });
});
