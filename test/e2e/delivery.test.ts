import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../support/claude-code/fake-claude.ts';
import { eventually, TOOL_PATH } from '../support/daemon.ts';
import { openDelivery } from './delivery-stage.ts';
import { forgeEnv, FORGE_KINDS, type Forge } from './reactions/forge.ts';

/** A remote that says when a push has come and takes it once it may, or nobody is there any more. */
const SLOW_PUSH = `#!/bin/sh
touch "$HOME/pushing"
while [ -e "$HOME/pushing" ] && [ ! -e "$HOME/may-end" ]; do sleep 0.1; done
`;

describe.each(FORGE_KINDS)('delivery to %s', { timeout: 60_000 }, (kind) => {
  it('ends in a request a reviewer can open, of two issues at once, and never in a second one', async (test) => {
    const { forge, origin, start, opened, close } = await openDelivery(kind);
    test.onTestFinished(close);
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

  it("neither watches nor merges a colleague's request that a run without changes names", async (test) => {
    const { forge, start, close } = await openDelivery(kind);
    test.onTestFinished(close);
    const id = forge.addIssue('Add a page');
    const number = forge.open({ title: 'Not yet', branch: 'colleagues-work', sha: 'e'.repeat(40) });
    forge.settle(number);
    forge.ci(number, 'green');
    forge.approve(number);
    const [, owner, repo] = /^(.+)\/([^/]+)$/.exec(forge.project) ?? [];
    const claim = JSON.stringify({ owner, repo, branch: 'colleagues-work', pr_number: number });
    const daemon = await start('', {
      hooks: `after_run: ${JSON.stringify(`printf '%s' '${claim}' > .foray/scm.json`)}`,
      reactions: `auto_merge: { provider: ${forge.kind}, poll_interval_ms: 200, ci_grace_ms: 0 }`,
    });
    await daemon.record('nothing to push', { issue_id: id });
    const told = await daemon.record("merge request is not this issue's", { issue_id: id, number: String(number) });
    expect(told['reason']).toContain(`the issue's branch is "foray/${id}"`);
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: id });
    expect(await daemon.json('/api/v2/merge-requests')).toMatchObject({ merge_requests: [] });
    expect(forge.merges()).toEqual([]);
  });
});

it('a stop in the middle of a push hands over what is done: no second session pays for it', { timeout: 60_000 }, async (test) => {
  const { ground, forge, origin, start, opened, close } = await openDelivery('repoissues');
  test.onTestFinished(close);
  const id = forge.addIssue('Add a page');
  const hook = SLOW_PUSH.replaceAll('$HOME', ground.dir);
  await chmod(await ground.write('origin.git/hooks/pre-receive', hook), 0o755);
  const daemon = await start('echo hello > page');
  const isPushing = () => existsSync(ground.path('pushing'));
  await eventually(isPushing, Boolean, 'the push');
  const stopping = daemon.stop();
  await daemon.record('draining');
  await ground.write('may-end', '');
  const { code, records } = await stopping;
  expect(code).toBe(0);
  expect(records.filter(({ msg }) => msg === 'handoff transition succeeded, releasing claim')).toHaveLength(1);
  expect(forge.issueOf(id).labels).toContain(forge.handoff);
  expect(await origin.git('origin.git', 'show', `foray/${id}:page`)).toBe('hello');
  expect(opened()).toHaveLength(1);
});

/** What stands in a tracker block, as flags of `foray init`. */
function initArgs({ kind, project, front, states }: Forge, repo: string): readonly string[] {
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

/** An agent that does its work, and tries to take the credential and to push by itself. */
const AGENT = `#!/bin/sh
cat > /dev/null
echo hello > hello.txt
{ git push origin HEAD:stolen && echo pushed
  git push "$(git config remote.origin.url)" HEAD:refs/heads/main && echo pushed
  grep -rF "$(cat ../../needle)" .. "$HOME/.gitconfig" && echo found
  env | grep -F "$(cat ../../needle)" && echo found
  tr '\\0' '\\n' < "/proc/$PPID/environ" | grep -F "$(cat ../../needle)" && echo found
} > ../../loot 2> ../../refusals
cat ${FIXTURES}/success.jsonl
`;

it(
  'the file that a newcomer is given ends in a request a reviewer can open; its agent has no credential',
  { timeout: 60_000 },
  async (test) => {
    const { ground, forge, origin, server, opened, close } = await openDelivery('repoissues');
    test.onTestFinished(close);
    const id = forge.addIssue('Say hello');
    await mkdir(ground.path('bin'));
    await chmod(await ground.write('bin/claude', AGENT), 0o755);
    const env = { ...forgeEnv(forge), PATH: `${ground.path('bin')}:${TOOL_PATH}`, ANTHROPIC_API_KEY: 'not-asked-for' };
    const made = await ground.run(initArgs(forge, `${server.origin}/${forge.project}.git`), { env });
    expect(made, made.stderr).toMatchObject({ code: 0 });
    await ground.write('WORKFLOW.md', (await ground.read('WORKFLOW.md')).replace('workspace:', 'workspace:\n  root: ws'));
    await ground.write('needle', forge.token);
    const daemon = await ground.start(['--port', '0'], { env });
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: id });
    expect(await ground.read('loot')).toBe('');
    expect(await ground.read('refusals')).toMatch(/could not read Username/);
    expect(await origin.git('origin.git', 'for-each-ref', '--format=%(refname:short)')).toBe(`foray/${id}\nmain`);
    expect(await origin.git('origin.git', 'show', `foray/${id}:hello.txt`)).toBe('hello');
    expect(opened().map((request) => request.json())).toMatchObject([{ title: 'Say hello', head: `foray/${id}`, base: 'main' }]);
  },
);
