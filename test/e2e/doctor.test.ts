import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startFakeGitea } from '../fakes/gitea.ts';
import { startFakeGithub } from '../fakes/github.ts';
import { startFakeGitlab } from '../fakes/gitlab.ts';
import { startFakeJira } from '../fakes/jira.ts';
import { runHere } from '../support/command.ts';
import { workflowText } from '../support/daemon.ts';
import { json } from '../support/http-server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-doctor-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

/** A command hides the credentials it has read from its own environment, so that they are set before each. */
async function doctorOf(
  token: string,
  sections: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Promise<{ code: number; findings: readonly Finding[] }> {
  vi.stubEnv('TRACKER_TOKEN', token);
  const file = path.join(folder, 'WORKFLOW.md');
  await writeFile(file, workflowText({ agent: 'kind: mock', workspace: 'root: ws', ...sections }));
  const { code, stdout } = await runHere('doctor', '--format', 'json', ...flags, file);
  return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings };
}

const doctor = (token: string, tracker: string, ...flags: readonly string[]) => doctorOf(token, { tracker }, ...flags);

const about = (findings: readonly Finding[], check: string) =>
  findings.filter((finding) => finding.check === check).map(({ status, message }) => `${status}: ${message}`);

it('names the variable to set where one is unset, and the file where it is wrong', async () => {
  vi.stubEnv('NO_SUCH_TOKEN', '');
  const unset = await doctor(
    '',
    'kind: linear\napi_key: $NO_SUCH_TOKEN\nproject: abc\nactive_states: [Todo]\nterminal_states: [Done]',
  );
  expect(unset.code).toBe(1);
  expect(unset.findings.find(({ check }) => check === 'tracker.api_key')?.remedy).toBe('set $NO_SUCH_TOKEN');
  const wrong = await doctor('', 'kind: no-such-kind');
  expect(wrong.findings.find(({ check }) => check === 'tracker.kind')?.remedy).toBe('correct the workflow file');
});

it('jira: a state that is missing, a move that the workflow forbids and a right that is lacking are told before a run', async () => {
  const jira = await startFakeJira({ workflow: { Backlog: ['In Progress'] } });
  jira.addIssue({ status: 'Backlog' });
  const states = 'active_states: [Backlog]\nterminal_states: [Done]';
  const connection = `kind: jira\napi_key: $TRACKER_TOKEN\nendpoint: ${jira.url}\nproject: ${jira.project}\n${states}`;
  try {
    const forbidden = await doctor(jira.apiKey, `${connection}\nin_progress_state: Backlog\nhandoff_state: Human Review`);
    expect(about(forbidden.findings, 'tracker.handoff_state.transition')).toEqual([
      `warning: ${jira.project}-1 cannot go from "Backlog" to "Human Review"; the workflow offers In Progress`,
    ]);
    expect(about(forbidden.findings, 'tracker.rights')).toEqual(['ok: the token may change issues']);
    jira.failNext('GET /mypermissions', json({ permissions: { TRANSITION_ISSUES: { havePermission: false } } }));
    const misspelt = await doctor(jira.apiKey, `${connection}\nhandoff_state: Human Reveiw`);
    expect(misspelt.code).toBe(1);
    expect(about(misspelt.findings, 'tracker.handoff_state')).toEqual([
      'error: the tracker has no state "Human Reveiw" (line 13, column 3)',
    ]);
    expect(misspelt.findings).toContainEqual(expect.objectContaining({ check: 'tracker.handoff_state', line: 13, column: 3 }));
    expect(misspelt.findings.find(({ check }) => check === 'tracker.handoff_state')?.remedy).toContain('"Human Review"');
    expect(about(misspelt.findings, 'tracker.rights')).toEqual([
      'error: the token may read, but not change issues: it lacks TRANSITION_ISSUES',
    ]);
  } finally {
    await jira.close();
  }
});

it('github: a missing label that runs set is an error, since they never make it; another is a warning; --fix makes both', async () => {
  const github = await startFakeGithub({ labels: ['ready'] });
  const tracker = `kind: github\napi_key: $TRACKER_TOKEN\nendpoint: ${github.url}\nproject: acme/widgets\nactive_states: [ready]\nterminal_states: [done]\nhandoff_state: review`;
  try {
    const before = await doctor(github.token, tracker);
    expect(before.code).toBe(1);
    expect(about(before.findings, 'tracker.handoff_state')).toEqual([
      'error: the tracker has no label "review" (line 13, column 3)',
    ]);
    expect(about(before.findings, 'tracker.terminal_states')).toEqual([
      expect.stringMatching(/^warning: the tracker has no label "done" \(line \d+, column \d+\)$/),
    ]);
    const fixed = await doctor(github.token, tracker, '--fix');
    expect(fixed.code).toBe(0);
    expect(about(fixed.findings, 'tracker.handoff_state')).toEqual(['fixed: label "review" was made']);
    expect(about((await doctor(github.token, tracker)).findings, 'tracker.handoff_state')).toEqual([
      'ok: label "review" is there',
    ]);
  } finally {
    await github.close();
  }
});

it('github: labels that people set, or that ask a person, are looked for and made too', async () => {
  const github = await startFakeGithub({ labels: ['ready', 'done'] });
  const tracker = `kind: github\napi_key: $TRACKER_TOKEN\nendpoint: ${github.url}\nproject: acme/widgets\nactive_states: [ready]\nterminal_states: [done]\napproval_label: go`;
  const reactions = 'label_commands: { provider: github }';
  const keys = [
    'tracker.approval_label',
    'reactions.label_commands.escalation_label',
    'reactions.label_commands.review_label',
    'reactions.label_commands.fix_label',
  ];
  try {
    const before = await doctorOf(github.token, { tracker, reactions });
    expect(before.code).toBe(0);
    expect(about(before.findings, 'clock')).toHaveLength(1);
    for (const key of keys)
      expect(about(before.findings, key), key).toEqual([expect.stringMatching(/^warning: the tracker has no label/)]);
    github.failNext(/\/issues/, json([], 200, { date: 'Thu, 01 Jan 2026 00:00:00 GMT' }));
    const fixed = await doctorOf(github.token, { tracker, reactions }, '--fix');
    expect(about(fixed.findings, 'clock')[1]).toMatch(/^warning: the clock is \d+ s ahead of that of the tracker/);
    for (const key of keys) expect(about(fixed.findings, key), key).toEqual([expect.stringMatching(/^fixed: label /)]);
  } finally {
    await github.close();
  }
});

it.each([
  ['neither a handoff state nor a budget', '', '', 1],
  ['a handoff state', 'handoff_state: review', '', 0],
  ['a budget', '', 'max_sessions: 5', 0],
])('work on an issue that nothing ends is a warning: with %s', async (_name, handoff, budget, warnings) => {
  await writeFile(path.join(folder, 'issues.json'), '[]');
  const tracker = `kind: file\nactive_states: [todo]\nterminal_states: [done]\n${handoff}`;
  const { code, findings } = await doctorOf('', { tracker, file: 'path: issues.json', agent: `kind: mock\n${budget}` });
  expect([code, findings.filter(({ check, status }) => check === 'agent.endless' && status === 'warning').length]).toEqual([
    0,
    warnings,
  ]);
});

describe('scopes', () => {
  it.each([
    ['repo, gist', 'ok: the token may change issues'],
    ['gist', 'error: the token may read, but not change issues: it lacks repo'],
    ['', /^ok: .*the token does not tell whether it has Issues \(read and write\)/],
  ])('github: a token with "%s"', async (scopes, said) => {
    const github = await startFakeGithub({ scopes, labels: ['ready', 'done'] });
    const tracker = `kind: github\napi_key: $TRACKER_TOKEN\nendpoint: ${github.url}\nproject: acme/widgets\nactive_states: [ready]\nterminal_states: [done]`;
    try {
      const [rights] = about((await doctor(github.token, tracker)).findings, 'tracker.rights');
      if (typeof said === 'string') expect(rights).toBe(said);
      else expect(rights).toMatch(said);
    } finally {
      await github.close();
    }
  });

  it.each([
    [['api'], 'ok: the token may change issues'],
    [['read_api'], 'error: the token may read, but not change issues: it lacks api'],
    [['granular'], /^ok: .*does not tell whether it has api/],
  ])('gitlab: a token with %s', async (scopes, said) => {
    const gitlab = await startFakeGitlab({ scopes, labels: ['ready', 'done'] });
    const tracker = `kind: gitlab\napi_key: $TRACKER_TOKEN\nendpoint: ${gitlab.url}\nproject: ${gitlab.project.path}\nactive_states: [ready]\nterminal_states: [done]`;
    try {
      const [rights] = about((await doctor(gitlab.token, tracker)).findings, 'tracker.rights');
      if (typeof said === 'string') expect(rights).toBe(said);
      else expect(rights).toMatch(said);
    } finally {
      await gitlab.close();
    }
  });

  it('gitea: an account that may not push may still change issues', async () => {
    const gitea = await startFakeGitea({ mayPush: false, labels: ['ready', 'done'] });
    const tracker = `kind: gitea\napi_key: $TRACKER_TOKEN\nendpoint: ${gitea.url}\nproject: acme/app\nactive_states: [ready]\nterminal_states: [done]`;
    try {
      const { code, findings } = await doctor(gitea.token, tracker);
      expect(about(findings, 'tracker.rights')).toEqual([expect.stringMatching(/^ok: the token does not tell/)]);
      expect(code).toBe(0);
    } finally {
      await gitea.close();
    }
  });
});

describe('what runs push by the token of the tracker', () => {
  /** On the host of the forge, at a port where nobody answers git. */
  const repo = (name: string, ...more: readonly string[]) => ['root: ws', `repo: http://127.0.0.1:1/${name}`, ...more].join('\n');

  it.each([
    [
      'by the token',
      'acme/widgets.git',
      [],
      /Metadata \(read\), Contents \(read and write\), Pull requests \(read and write\), which/,
    ],
    [
      'by a token of its own',
      'acme/widgets.git',
      ['repo_token: other'],
      /Metadata \(read\), Pull requests \(read and write\), which/,
    ],
    ['not at all', 'acme/widgets.git', ['push: false'], /Metadata \(read\), which/],
  ])('github: what it cannot tell is named; pushed %s', async (_, name, more, said) => {
    const github = await startFakeGithub({ scopes: '', labels: ['ready', 'done'] });
    const tracker = `kind: github\napi_key: $TRACKER_TOKEN\nendpoint: ${github.url}\nproject: acme/widgets\nactive_states: [ready]\nterminal_states: [done]`;
    try {
      const { findings } = await doctorOf(github.token, { tracker, workspace: repo(name, ...more) });
      expect(about(findings, 'tracker.rights')).toEqual([expect.stringMatching(said)]);
    } finally {
      await github.close();
    }
  });

  it.each([
    ['an account that may only triage', { pull: true, triage: true, push: false }, 'acme/widgets.git', 1],
    ['an account that may push', { pull: true, triage: true, push: true }, 'acme/widgets.git', 0],
    ['an app, of which nothing is told', { pull: false, triage: false, push: false }, 'acme/widgets.git', 0],
    ['another repository', { pull: true, triage: true, push: false }, 'acme/gadgets.git', 0],
  ])('github: %s', async (_, permissions, name, warnings) => {
    const github = await startFakeGithub({ scopes: 'repo', labels: ['ready', 'done'] });
    const tracker = `kind: github\napi_key: $TRACKER_TOKEN\nendpoint: ${github.url}\nproject: acme/widgets\nactive_states: [ready]\nterminal_states: [done]`;
    const facts = () => json({ full_name: 'acme/widgets', private: true, permissions }, 200, { 'x-oauth-scopes': 'repo' });
    github.failNext('GET /repos/acme/widgets', facts());
    try {
      const { findings } = await doctorOf(github.token, { tracker, workspace: repo(name) });
      const told = 'warning: runs push to acme/widgets by this token, and its account may not push there';
      expect(about(findings, 'workspace.push')).toEqual(warnings === 1 ? [told] : []);
      expect(about(findings, 'tracker.rights')).toEqual(['ok: the token may change issues']);
    } finally {
      await github.close();
    }
  });

  it.each([
    ['a reporter', 20, 1],
    ['a developer', 30, 0],
  ])('gitlab: %s', async (_, level, warnings) => {
    const gitlab = await startFakeGitlab({ labels: ['ready', 'done'] });
    const { path: project } = gitlab.project;
    const tracker = `kind: gitlab\napi_key: $TRACKER_TOKEN\nendpoint: ${gitlab.url}\nproject: ${project}\nactive_states: [ready]\nterminal_states: [done]`;
    const permissions = { project_access: { access_level: level }, group_access: null };
    gitlab.failNext({ path: /rocket$/ }, json({ id: 1, path_with_namespace: project, permissions }));
    try {
      const { findings } = await doctorOf(gitlab.token, { tracker, workspace: repo(`${project}.git`) });
      expect(about(findings, 'workspace.push')).toHaveLength(warnings);
    } finally {
      await gitlab.close();
    }
  });

  it.each([
    [false, 1],
    [true, 0],
  ])('gitea: an account that may push: %s', async (mayPush, warnings) => {
    const gitea = await startFakeGitea({ mayPush, labels: ['ready', 'done'] });
    const tracker = `kind: gitea\napi_key: $TRACKER_TOKEN\nendpoint: ${gitea.url}\nproject: acme/app\nactive_states: [ready]\nterminal_states: [done]`;
    try {
      const { findings } = await doctorOf(gitea.token, { tracker, workspace: repo('acme/app.git') });
      expect(about(findings, 'workspace.push')).toHaveLength(warnings);
      expect(about(findings, 'tracker.rights')).toEqual([expect.stringContaining('it has write:issue, write:repository, which')]);
    } finally {
      await gitea.close();
    }
  });
});
