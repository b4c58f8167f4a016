import { symlink } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startFakeGithub } from '../fakes/github.ts';
import { runHere } from '../support/command.ts';
import { createPlayground, fileWorkflow, workflowText, type Playground } from '../support/daemon.ts';

const HANGS = { mock: 'outcomes: [hang]' };
const ISSUE = { id: '1', identifier: 'A-1', title: 'One', state: 'todo' };
const explained = async (...argv: readonly string[]) => {
  const { code, stdout } = await runHere('explain', ...argv, '--format', 'json');
  return { code, found: JSON.parse(stdout) as unknown };
};

describe('a second workflow file beside that of a service, with the same database', () => {
  let ground: Playground;
  let own: string;
  let other: string;
  beforeAll(async () => {
    ground = await createPlayground();
    own = await ground.write('WORKFLOW.md', fileWorkflow(HANGS));
    other = await ground.write('other.md', fileWorkflow({ ...HANGS, file: 'path: other.json' }));
    await ground.writeIssues([ISSUE]);
    await ground.write('other.json', JSON.stringify([{ ...ISSUE, identifier: 'B-1' }]));
    const daemon = await ground.start();
    await daemon.record('turn started');
  });
  afterAll(() => ground.cleanup());

  it('is told to be watched by nobody', async () => {
    const line = `service: not running; the service of ${own} uses this database, nothing watches this file\n`;
    expect((await runHere('status', other)).stdout).toContain(line);
    expect(JSON.parse((await runHere('status', other, '--format', 'json')).stdout)).toMatchObject({
      service: { running: false, database_used_by: { workflow_path: own } },
    });
    expect((await runHere('explain', 'B-1', other)).stderr).toBe(line);
    const entry = { identifier: 'B-1', would_dispatch: false, reason: 'not_watched' };
    expect(await explained('B-1', other)).toMatchObject({ code: 1, found: [entry] });
  });

  it('is refused by doctor as its start would be', async () => {
    const { code, stdout } = await runHere('doctor', other);
    expect(code).toBe(1);
    expect(stdout).toContain(`is used by the running service of ${own}; a service of this file could not start`);
    expect(stdout).toContain('set db_path in this file to a database of its own');
  });

  it('is told whom it pauses', async () => {
    expect((await runHere('pause', other)).stdout).toContain(`(the running service of ${own})`);
    expect((await runHere('resume', own)).stdout).toContain('(the running service)');
  });

  it('is the same one under another name of the same file', async () => {
    const link = ground.path('link.md');
    await symlink(own, link);
    expect((await runHere('status', link)).stdout).toMatch(/^service: running/);
    expect((await runHere('explain', 'A-1', link)).code).toBe(0);
  });
});

describe('explain', () => {
  let ground: Playground;
  let file: string;
  beforeEach(async () => {
    ground = await createPlayground();
    file = await ground.write('WORKFLOW.md', fileWorkflow(HANGS));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await ground.cleanup();
  });

  it('does not say that there are no issues where the tracker was not read', async () => {
    await ground.writeIssues([]);
    await ground.start();
    await ground.write('issues.json', '[{"id": "1",]');
    const said = await runHere('explain', file);
    expect(said).toMatchObject({ code: 1, stdout: '' });
    expect(said.stderr).toContain('the tracker was not read');
    expect(await explained(file)).toEqual({ code: 1, found: [] });
  });

  it('and status tell of a service that was killed what it did, and that it must be started', async () => {
    await ground.writeIssues([ISSUE]);
    const daemon = await ground.start();
    await daemon.record('turn started');
    daemon.signal('SIGKILL');
    await daemon.exited;
    expect((await runHere('status', file)).stdout).toMatch(/^Running when the service ended \(1\)\n.*\nA-1 +todo +0 +- +- /m);
    expect(await explained('A-1', file)).toMatchObject({
      code: 1,
      found: [
        { reason: 'retrying', since: null, until: null, remedy: expect.stringMatching(/^start the service, then /) as string },
      ],
    });
  });

  it('knows an issue by its qualified form', async () => {
    const github = await startFakeGithub({ labels: ['ready', 'done', 'review'] });
    vi.stubEnv('TRACKER_TOKEN', github.token);
    const tracker = `kind: github\napi_key: $TRACKER_TOKEN\nendpoint: ${github.url}\nproject: acme/widgets\nactive_states: [ready]\nterminal_states: [done]\nhandoff_state: review`;
    file = await ground.write('WORKFLOW.md', workflowText({ tracker, agent: 'kind: mock', workspace: 'root: ws' }));
    const { number } = github.addIssue({ labels: ['ready'] });
    expect(await explained(`acme/widgets#${number}`, file)).toMatchObject({ code: 0, found: [{ would_dispatch: true }] });
    await github.close();
  });
});
