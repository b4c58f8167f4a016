import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { loadWorkflow } from './workflow.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'credentials-'));
  await writeFile(path.join(dir, 'token'), 'from-a-file-1\n');
  await writeFile(path.join(dir, 'TOKEN'), 'from-systemd-1');
  const hooks = 'hooks: { before_run: "echo $LOG" }';
  await writeFile(
    path.join(dir, 'WORKFLOW.md'),
    `---\ntracker: { kind: github, api_key: $TOKEN, project: a/b, active_states: [x], terminal_states: [y] }\n${hooks}\n---\nx\n`,
  );
});
afterAll(() => rm(dir, { recursive: true }));

const load = (env: Record<string, string>) => loadWorkflow(path.join(dir, 'WORKFLOW.md'), fakeContext({ env }));

describe('a credential', () => {
  it.each([
    ['the variable itself', { TOKEN: 'from-the-env-1', TOKEN_FILE: 'token' }, 'from-the-env-1'],
    ['the file that NAME_FILE names, without its last line break', { TOKEN_FILE: 'token' }, 'from-a-file-1'],
    ['systemd', () => ({ CREDENTIALS_DIRECTORY: dir }), 'from-systemd-1'],
    ['NAME_FILE before systemd', () => ({ TOKEN_FILE: 'token', CREDENTIALS_DIRECTORY: dir }), 'from-a-file-1'],
  ])('comes from %s', async (_name, env, token) => {
    const loaded = await load(typeof env === 'function' ? env() : env);
    expect(loaded.secrets).toEqual([token]);
    expect(loaded.secretVariables).toEqual(['TOKEN']);
  });

  it('whose file cannot be read is an error that names the file', async () => {
    const { settings, problems } = await load({ TOKEN_FILE: 'none' });
    expect(settings).toBeNull();
    expect(problems[0]).toMatchObject({ check: 'credentials.unreadable', severity: 'error' });
    expect(problems[0]?.message).toContain(path.join(dir, 'none'));
  });

  it('whose file is empty is told by the file, not as a variable that is not set', async () => {
    await writeFile(path.join(dir, 'empty'), '\n');
    const { problems } = await load({ TOKEN_FILE: 'empty' });
    expect(problems[0]).toMatchObject({
      check: 'credentials.unreadable',
      message: expect.stringMatching(/that TOKEN_FILE names, .*empty, which cannot be read: it is empty$/) as string,
    });
  });

  it("of systemd's folder that is there and cannot be read is told as such, not as missing", async () => {
    await mkdir(path.join(dir, 'credentials', 'TOKEN'), { recursive: true });
    const { problems } = await load({ CREDENTIALS_DIRECTORY: path.join(dir, 'credentials') });
    expect(problems[0]).toMatchObject({
      check: 'credentials.unreadable',
      message: expect.stringMatching(/in the folder that CREDENTIALS_DIRECTORY names, .*EISDIR/) as string,
    });
  });

  it('is not looked for on behalf of other text', async () => {
    const { problems } = await load({ TOKEN: 'from-the-env-1', LOG_FILE: '/none' });
    expect(problems.map(({ check }) => check)).not.toContain('credentials.unreadable');
  });
});
