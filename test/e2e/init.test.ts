import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startFakeGitea } from '../fakes/gitea.ts';
import { startFakeGithub } from '../fakes/github.ts';
import { startFakeGitlab } from '../fakes/gitlab.ts';
import { startFakeJira } from '../fakes/jira.ts';
import { startFakeLinear } from '../fakes/linear.ts';
import { runHere } from '../support/command.ts';
import { json, startServer } from '../support/http-server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-init-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function init(token: string, ...flags: readonly string[]) {
  vi.stubEnv('TRACKER_TOKEN', token);
  const file = path.join(folder, 'WORKFLOW.md');
  const done = await runHere('init', '--agent', 'mock', '--token-env', 'TRACKER_TOKEN', ...flags, file);
  return { ...done, file: await readFile(file, 'utf8').catch(() => null) };
}

it('gitea: states are proposed, although the kind has none by default', async () => {
  const gitea = await startFakeGitea({ labels: ['todo', 'review', 'done'] });
  try {
    const made = await init(gitea.token, '--tracker', 'gitea', '--project', gitea.project, '--endpoint', gitea.url);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(made.file).toContain('active_states: [todo]\n  terminal_states: [done]\n  handoff_state: review');
  } finally {
    await gitea.close();
  }
});

it('github: what it says when it refuses does not steer the terminal', async () => {
  const server = await startServer(() => json({ message: 'bad \u001B]0;title\u0007\u009B31m\u202E\r\nforay: forged' }, 422));
  try {
    const refused = await init('t', '--tracker', 'github', '--project', 'acme/shop', '--endpoint', server.url);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('bad');
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(refused.stderr).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]|^foray: forged/m);
  } finally {
    await server.close();
  }
});

it('github: a handoff state may be one that the kind would work on by default', async () => {
  const github = await startFakeGithub({ labels: ['ready', 'review', 'done'] });
  const tracker = ['--tracker', 'github', '--project', 'acme/widgets', '--endpoint', github.url];
  try {
    const made = await init(github.token, ...tracker, '--handoff', 'review');
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(made.file).toContain('active_states: [ready]\n  terminal_states: [done]\n  handoff_state: review');
    const refused = await init(github.token, ...tracker, '--active', 'review', '--handoff', 'review', '--force');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('error: tracker.handoff_state: ');
  } finally {
    await github.close();
  }
});

it('says that issues without a state label are taken where they are, and how to take less', async () => {
  const github = await startFakeGithub({ labels: ['ready', 'review', 'done'] });
  const gitlab = await startFakeGitlab({ labels: ['todo', 'review', 'done'] });
  const gitea = await startFakeGitea({ labels: ['todo', 'review', 'done'] });
  const made = (token: string, kind: string, project: string, url: string) =>
    init(token, '--tracker', kind, '--project', project, '--endpoint', url, '--force');
  const note = (state: string) =>
    `foray: every open issue without a state label counts as "${state}": tracker.query_filter or tracker.approval_label narrows that\n`;
  const comment = (state: string, filter: string) =>
    `  # Every open issue without a state label counts as "${state}". To take only those with a label of your choice:\n  # query_filter: ${filter}\n  active_states: [${state}]\n`;
  try {
    const onGithub = await made(github.token, 'github', 'acme/widgets', github.url);
    expect(onGithub.stderr).toContain(note('ready'));
    expect(onGithub.file).toContain(comment('ready', 'label:agent'));
    const onGitlab = await made(gitlab.token, 'gitlab', gitlab.project.path, gitlab.url);
    expect(onGitlab.stderr).toContain(note('todo'));
    expect(onGitlab.file).toContain(comment('todo', 'labels=agent'));
    const onGitea = await made(gitea.token, 'gitea', gitea.project, gitea.url);
    expect(onGitea.stderr + (onGitea.file ?? '')).not.toContain('without a state label');
  } finally {
    await Promise.all([github.close(), gitlab.close(), gitea.close()]);
  }
});

it('gitlab, jira, linear: what the tracker has is listed, and what of it is active, terminal and handoff is proposed', async () => {
  const gitlab = await startFakeGitlab({ labels: ['todo', 'review', 'done'] });
  const jira = await startFakeJira();
  const linear = await startFakeLinear();
  const at = (kind: string, project: string, endpoint: string) => [
    '--tracker',
    kind,
    '--project',
    project,
    '--endpoint',
    endpoint,
  ];
  const states = (file: string | null) =>
    /active_states: .*\n {2}terminal_states: .*\n {2}handoff_state: .*/.exec(file ?? '')?.[0];
  try {
    const onGitlab = await init(gitlab.token, ...at('gitlab', gitlab.project.path, gitlab.url));
    expect(onGitlab.stdout).toContain('labels found: done, review, todo');
    expect(states(onGitlab.file)).toBe('active_states: [todo]\n  terminal_states: [done]\n  handoff_state: review');
    const onJira = await init(jira.apiKey, ...at('jira', jira.project, jira.url), '--force');
    expect(onJira.stdout).toMatch(/^states found: .*Backlog/m);
    expect(states(onJira.file)).toContain('handoff_state: Human Review');
    const onLinear = await init(linear.apiKey, ...at('linear', linear.project, linear.url), '--force');
    expect(onLinear.stdout).toMatch(/^states found: .*Todo/m);
    expect(states(onLinear.file)).toMatch(/active_states: \[.*Todo.*\]\n {2}terminal_states: \[.*Done/);
  } finally {
    await Promise.all([gitlab.close(), jira.close(), linear.close()]);
  }
});

it('file: --repo has finished work pushed where no token is needed, and says what it takes where one is', async () => {
  const issues = path.join(folder, 'issues.json');
  await writeFile(issues, '[]');
  const flags = ['--tracker', 'file', '--project', issues];
  const bySsh = await init('unused', ...flags, '--repo', 'git@git.example:acme/shop.git');
  expect(bySsh, bySsh.stderr).toMatchObject({ code: 0 });
  expect(bySsh.file).toContain('workspace:\n  repo: "git@git.example:acme/shop.git"\n  push: true\n');
  const byHttps = await init('unused', ...flags, '--repo', 'https://git.example/acme/shop.git', '--force');
  expect(byHttps, byHttps.stderr).toMatchObject({ code: 0 });
  expect(byHttps.file).toMatch(/# To have finished work pushed, .* repo_token: \$NAME.*\n {2}push: false\n/);
});
