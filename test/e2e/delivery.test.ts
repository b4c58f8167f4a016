import { chmod, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { createPlayground, eventually, TOOL_PATH, type RunningDaemon } from '../support/daemon.ts';
import { FIXTURES } from '../support/claude-code/fake-claude.ts';
import { startGitServer } from '../support/git/http-backend.ts';
import { buildForge, forgeEnv, forgeWorkflow, FORGE_KINDS } from './reactions/forge.ts';
import { createOrigin } from './reactions/origin.ts';

/** A forge whose repository is served by a real git server, and a daemon that delivers to it. */
async function openStage(kind: string, { onTestFinished }: TestContext) {
  const ground = await createPlayground();
  const forge = await buildForge(kind);
  const origin = await createOrigin(ground, forge.front.url);
  await origin.git('origin.git', 'config', 'http.receivepack', 'true');
  const served = ground.path('served', `${forge.project}.git`);
  await mkdir(path.dirname(served), { recursive: true });
  await symlink(origin.path, served);
  const server = await startGitServer({ root: ground.path('served'), token: forge.token });
  onTestFinished(async () => {
    await server.close();
    await ground.cleanup();
    await forge.close();
  });
  const start = async (work: string, more: Record<string, string> = {}): Promise<RunningDaemon> => {
    const sections = {
      workspace: `root: ws\nrepo: ${server.origin}/${forge.project}.git`,
      hooks: `before_run: ${JSON.stringify(work)}`,
      reactions: `merge_completion: { provider: ${forge.kind}, target_state: done, poll_interval_ms: 200 }`,
      ...more,
    };
    await ground.write('WORKFLOW.md', forgeWorkflow(forge, sections));
    return ground.start(['--port', '0'], { env: forgeEnv(forge) });
  };
  const opened = () =>
    forge.front.requests.filter(({ method, path: at }) => method === 'POST' && /\/(pulls|merge_requests)$/.test(at));
  return { ground, forge, origin, server, start, opened };
}

describe.each(FORGE_KINDS)('delivery to %s', { timeout: 60_000 }, (kind) => {
  it('ends in a request a reviewer can open, of two issues at once, and never in a second one', async (test) => {
    const { forge, origin, start, opened } = await openStage(kind, test);
    const [first, second] = [forge.addIssue('Add a page'), forge.addIssue('Add another page')];
    const daemon = await start('date +%N >> "page-$FORAY_ISSUE_IDENTIFIER"');
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: first });
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: second });
    expect(forge.issueOf(first).labels).toContain(forge.handoff);
    expect(await origin.git('origin.git', 'ls-tree', '-r', '--name-only', `foray/${first}`)).toBe(`page-${first}`);
    expect(await origin.git('origin.git', 'log', '-1', '--format=%s', `foray/${second}`)).toBe('Add another page');
    expect(opened()).toHaveLength(2);
    expect(opened()[0]?.json()).toMatchObject({ title: expect.stringMatching(/^Add a(nother)? page$/) as string });
    await daemon.record('merge request watched', { issue_id: first });
    expect(daemon.stderr()).not.toContain(forge.token);
  });

  it('tells a refused push with its remedy, parks, and loses nothing', async (test) => {
    const { ground, forge, origin, server, start, opened } = await openStage(kind, test);
    const id = forge.addIssue('Add a page');
    server.refusePushes(403);
    const daemon = await start('echo work >> work');
    const parked = await daemon.record('issue parked until a person acts', { issue_id: id });
    expect(parked['detail']).toMatch(/delivery: push: .*write access/);
    expect(opened()).toHaveLength(0);
    server.refusePushes(null);
    expect((await ground.run(['unpark', id], { env: forgeEnv(forge) })).code).toBe(0);
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: id });
    expect(await origin.git('origin.git', 'show', `foray/${id}:work`)).toBe('work\nwork');
    expect(opened()).toHaveLength(1);
  });

  it('opens no second request when the daemon dies right after the first', async (test) => {
    const { ground, forge, start, opened } = await openStage(kind, test);
    const id = forge.addIssue('Add a page');
    const daemon = await start('echo work >> work');
    await eventually(
      () => opened().length,
      (count) => count > 0,
      'a request',
    );
    daemon.signal('SIGKILL');
    await daemon.exited;
    const next = await ground.start(['--port', '0'], { env: forgeEnv(forge) });
    await eventually(
      () => forge.issueOf(id).labels,
      (labels) => labels.includes(forge.handoff),
      'the handoff',
    );
    expect(opened()).toHaveLength(1);
    await next.stop();
  });
});

/** What stands in a tracker block, as flags of `foray init`. */
function initArgs({ kind, project, front, states }: Awaited<ReturnType<typeof buildForge>>, repo: string): readonly string[] {
  const listed = (key: string): string =>
    (new RegExp(`^${key}: \\[?([^\\]\\n]*)`, 'm').exec(states)?.[1] ?? '').replaceAll(' ', '');
  const tracker = ['--tracker', kind, '--project', project, '--endpoint', front.url, '--token-env', 'REACTION_TOKEN'];
  const words = [
    '--active',
    listed('active_states'),
    '--terminal',
    listed('terminal_states'),
    '--handoff',
    listed('handoff_state'),
  ];
  return ['init', ...tracker, ...words, '--repo', repo, '--yes'];
}

it('the file that a newcomer is given ends in a request a reviewer can open', { timeout: 60_000 }, async (test) => {
  const { ground, forge, origin, server, opened } = await openStage('repoissues', test);
  const id = forge.addIssue('Say hello');
  await mkdir(ground.path('bin'));
  const agent = await ground.write(
    'bin/claude',
    `#!/bin/sh\ncat > /dev/null\necho hello > hello.txt\ncat ${FIXTURES}/success.jsonl\n`,
  );
  await chmod(agent, 0o755);
  const env = { ...forgeEnv(forge), PATH: `${ground.path('bin')}:${TOOL_PATH}`, ANTHROPIC_API_KEY: 'not-asked-for' };
  const made = await ground.run(initArgs(forge, `${server.origin}/${forge.project}.git`), { env });
  expect(made, made.stderr).toMatchObject({ code: 0 });
  const daemon = await ground.start(['--port', '0'], { env });
  await daemon.record('handoff transition succeeded, releasing claim', { issue_id: id });
  expect(await origin.git('origin.git', 'show', `foray/${id}:hello.txt`)).toBe('hello');
  expect(opened().map((request) => request.json())).toMatchObject([{ title: 'Say hello', head: `foray/${id}`, base: 'main' }]);
});
