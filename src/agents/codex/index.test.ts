import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FAKE_SETTINGS } from '../../../test/support/codex/fake-app-server.ts';
import { agentKind } from './index.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'codex-'));
writeFileSync(path.join(folder, 'codex'), '#!/bin/sh\nexit 1\n');
chmodSync(path.join(folder, 'codex'), 0o755);
writeFileSync(path.join(folder, 'plain'), 'text');
afterAll(() => rmSync(folder, { recursive: true }));

const quiet = (): void => {};

function problemOf(command: string[] | null, searchPath: string): Promise<string | null> {
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const deps = { env: { PATH: searchPath }, clock: { now: () => 0 }, logger, processes: { started: quiet, ended: quiet } };
  return agentKind.create({ ...FAKE_SETTINGS, command }, {}, deps).findProblem();
}

describe('the kind codex', () => {
  it('starts the app server unless told otherwise', () => {
    expect(agentKind).toMatchObject({ kind: 'codex', defaultCommand: ['codex', 'app-server'], requiresCommand: false });
  });

  const remedy = 'install Codex with `npm install -g @openai/codex` or name its program in agent.command';
  it.each([
    ['a program on the PATH', null, `/no/such:${folder}`, null],
    ['a program by its path', [path.join(folder, 'codex'), 'app-server'], '', null],
    ['a path within the workspace', ['./bin/codex'], '', null],
    ['no program', null, '/no/such', `cannot find the program codex: ${remedy}`],
    ['no PATH', null, '', `cannot find the program codex: ${remedy}`],
    ['a file that is not executable', ['plain'], folder, `the program plain is not executable by this user: ${remedy}`],
    ['a folder', [folder], '', `${folder} is a directory and no program: ${remedy}`],
  ])('looks for its program: %s', async (_name, command, searchPath, problem) => {
    expect(await problemOf(command, searchPath)).toBe(problem);
  });
});

describe('the options', () => {
  it('have safe defaults', () => {
    expect(agentKind.options.parse({})).toEqual({ approval_policy: 'never', sandbox: 'workspace-write', network_access: false });
  });

  it.each([
    [{ model: ' ' }],
    [{ effort: 'huge' }],
    [{ approval_policy: 'on-failure' }],
    [{ sandbox: 'workspaceWrite' }],
    [{ network_access: 'yes' }],
  ])('refuse %j', (options) => {
    expect(agentKind.options.safeParse(options).success).toBe(false);
  });
});
