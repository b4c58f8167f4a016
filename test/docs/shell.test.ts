import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { startFakeGithub, type FakeGithub } from '../fakes/github.ts';
import { runHere } from '../support/command.ts';
import {
  CLI,
  createPlayground,
  eventually,
  fileWorkflow,
  freePort,
  type Playground,
  type RunningDaemon,
} from '../support/daemon.ts';
import { SNIPPETS, textOf, wordsOf, type Snippet } from './pages.ts';

/** Blocks that cannot be run here, each with its reason. Those that another test runs name it. */
const ELSEWHERE: readonly { readonly begins: string; readonly why: string; readonly by?: string }[] = [
  { begins: 'npm ci && npm run demo', why: 'installs into a fresh clone', by: 'test/newcomer.mjs' },
  { begins: 'npm test', why: 'this is it' },
  { begins: 'npm ci                # installs', why: 'the commands of a contributor; that they exist is looked at below' },
  { begins: 'npm install -g @anthropic-ai/claude-code', why: 'the program of a vendor', by: 'test/agents/install.mjs' },
  { begins: 'npm install -g @openai/codex', why: 'the program of a vendor', by: 'test/agents/install.mjs' },
  { begins: 'GITEA_URL=', why: 'needs a Gitea server', by: 'test/real/vitest.config.ts' },
  { begins: "foray migrate --to '$DATABASE_URL'", why: 'needs a PostgreSQL server', by: 'test/fleet/migrate.test.ts' },
  { begins: "foray worker --url '$DATABASE_URL'", why: 'needs a PostgreSQL server', by: 'test/fleet/workers.test.ts' },
];

const SHELL = SNIPPETS.filter(({ language }) => ['sh', 'bash', 'console'].includes(language));
const isElsewhere = ({ begins }: Snippet): boolean => ELSEWHERE.some((one) => begins.startsWith(one.begins));
/** What was run below; in the end that is all of the rest. */
const seen = new Set<Snippet>();

function block(page: string, begins: string): string {
  const found = SHELL.find((one) => one.page === page && one.begins.startsWith(begins));
  if (!found) throw new Error(`${page} has no block that begins with ${begins}`);
  seen.add(found);
  return found.text;
}

const NEEDED = ['PATH', 'TMPDIR', 'LANG'] as const;
const cwd = process.cwd();
let ground: Playground;
let tools: string;

beforeAll(async () => {
  ground = await createPlayground();
  tools = await mkdtemp(path.join(os.tmpdir(), 'foray-docs-'));
  await program('foray', `exec "${process.execPath}" "${CLI}" "$@"`);
  await program('claude', 'echo 2.1.0');
});
afterEach(() => {
  process.chdir(cwd);
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await ground.cleanup();
  await rm(tools, { recursive: true, force: true });
});

async function program(name: string, script: string): Promise<void> {
  await writeFile(path.join(tools, name), `#!/bin/sh\n${script}\n`);
  await chmod(path.join(tools, name), 0o755);
}

interface Place {
  readonly dir: string;
  readonly env?: Readonly<Record<string, string>>;
}

const environment = ({ dir, env }: Place): Record<string, string> => ({
  ...Object.fromEntries(NEEDED.map((name) => [name, process.env[name] ?? ''])),
  PATH: `${tools}:${process.env['PATH']}`,
  HOME: dir,
  ...env,
});

/** One line of a shell. A plain call of the command runs in this process, which is cheap; all else in a real shell. */
async function sh(line: string, place: Place): Promise<{ code: number; stdout: string; stderr: string }> {
  if (/^foray [^|&>;$]*$/.test(line)) {
    process.chdir(place.dir);
    for (const [name, value] of Object.entries(environment(place))) vi.stubEnv(name, value);
    return runHere(...wordsOf(line).slice(1));
  }
  const options = { cwd: place.dir, env: environment(place) };
  const ran = promisify(execFile)('sh', ['-ec', line], options);
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

async function runBlock(text: string, place: Place): Promise<string> {
  let stdout = '';
  for (const line of text.trim().split('\n')) {
    const done = await sh(line.replace(/ #.*$/, '').trim(), place);
    expect(done.code, `${line}\n${done.stdout}${done.stderr}`).toBe(0);
    stdout += done.stdout;
  }
  return stdout;
}

/** Runs a line that goes on until it is interrupted. */
async function untilShown(line: string, pattern: RegExp, place: Place): Promise<void> {
  const child = spawn(process.execPath, [CLI, ...wordsOf(line).slice(1)], { cwd: place.dir, env: environment(place) });
  const said = await shown(child, pattern);
  child.kill('SIGINT');
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, said).toBe(0);
}

function shown(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const look = (chunk: Buffer): void => {
      said += chunk.toString();
      if (pattern.test(said)) resolve(said);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', () => reject(new Error(`it ended without ${String(pattern)}:\n${said}`)));
  });
}

describe('with a tracker', () => {
  let github: FakeGithub;
  let place: Place;
  beforeAll(async () => {
    github = await startFakeGithub({ project: 'acme/shop', labels: ['ready', 'in-progress', 'done'] });
    github.addIssue({ title: 'Add a page', labels: ['ready'] });
    place = { dir: ground.path('shop'), env: { GITHUB_TOKEN: github.token, ANTHROPIC_API_KEY: 'sk-ant-for-the-tests' } };
    await mkdir(place.dir);
  });
  afterAll(() => github.close());

  /** The vendor's address becomes that of the stand-in, and the port a free one. */
  const atStandIn = (text: string): string => text.replaceAll('acme/shop', `acme/shop --endpoint ${github.url}`);

  it('getting started: init, then look', async () => {
    await runBlock(
      `${atStandIn(block('docs/getting-started.md', 'foray init --tracker github').trim())} --handoff review`,
      place,
    );
    const file = path.join(place.dir, 'WORKFLOW.md');
    await writeFile(file, (await readFile(file, 'utf8')).replace('port: 8080', `port: ${await freePort()}`));
    const said = await runBlock(block('docs/getting-started.md', 'foray validate --strict'), place);
    expect(said).toContain('label "review" was made');
    expect(said).toContain('Add a page');
  });

  it('the README: its workflow file, then look', async () => {
    const [, text = ''] = /```markdown\n([\s\S]*?)```/.exec(textOf('README.md')) ?? [];
    const whole = text
      .replaceAll(/^ {3}/gm, '')
      .replace('https://github.com', github.url)
      .replace('  project:', `  endpoint: ${github.url}\n  project:`);
    await writeFile(path.join(place.dir, 'WORKFLOW.md'), whole.replace('port: 8080', `port: ${await freePort()}`));
    const said = await runBlock(block('README.md', 'foray validate'), place);
    expect(said).toContain('Add a page');
    await runBlock(block('docs/recipes.md', 'foray validate --strict'), place);
  });
});

describe('beside a running service', () => {
  let daemon: RunningDaemon;
  let place: Place;
  const outcomes = { mock: 'outcomes_by_issue:\n  ENG-7: [hang, hang, hang, hang]', agent: 'kind: mock\nmax_turns: 1' };
  beforeAll(async () => {
    place = { dir: ground.dir };
    await ground.write('WORKFLOW.md', fileWorkflow(outcomes));
    await ground.write('WORKFLOW.new.md', fileWorkflow({ ...outcomes, polling: 'interval_ms: 30000' }));
    await ground.writeIssues([{ id: '7', identifier: 'ENG-7', title: 'Add a page', state: 'todo' }]);
    await mkdir(ground.path('.local/share/bash-completion/completions'), { recursive: true });
    await mkdir(ground.path('backups'));
    expect(example('run')).toBe('foray --port 8080 WORKFLOW.md');
    daemon = await ground.start(['--port', '0']);
    await daemon.record('agent session started');
  });

  const place7 = async (): Promise<string> => {
    const { stdout } = await sh('foray explain ENG-7 --format json', place);
    return (JSON.parse(stdout) as { reason: string }[])[0]?.reason ?? '';
  };

  it('the stream of events is what the page shows', async () => {
    const text = block('docs/http-api.md', '$ curl -N');
    const [, url = ''] = /curl -N '([^']+)'/.exec(text) ?? [];
    const answer = await fetch(url.replace('http://127.0.0.1:8080', daemon.url));
    expect((await sh(example('stop'), place)).code).toBe(0);
    const [, name = '', data = ''] = await readEvent(answer, /event: (run:worker:exited)\ndata: (.*)\n/);
    const facts = JSON.parse(data) as { issue: object };
    const keys = [...text.matchAll(/"(\w+)":/g)].map(([, key]) => key);
    expect(text).toContain(`event: ${name}`);
    expect(Object.keys({ ...facts, ...facts.issue })).toEqual(expect.arrayContaining(keys));
    await eventually(place7, (reason) => reason === 'parked');
  });

  it('every example of a command works as it is written', async () => {
    expect((await sh(example('retry'), place)).code).toBe(0);
    await eventually(place7, (reason) => reason === 'running');
    for (const name of ['explain', 'pause', 'resume', 'plan', 'stats', 'validate', 'doctor', 'backup', 'completion', 'schema'])
      await runBlock(example(name), place);
    await untilShown(example('status'), /ENG-7/, place);
    await untilShown(example('logs'), /attempt \d/, place);
    expect((await sh(example('stop'), place)).code).toBe(0);
    await eventually(place7, (reason) => reason === 'parked');
    await runBlock(example('unpark'), place);
    expect(await ground.read('foray.schema.json')).toContain('urn:foray:workflow');
  });

  it('a backup is made and put back', async () => {
    const here = (text: string): string =>
      text.replaceAll('/var/backups', ground.path('backups')).replace('/srv/foray', ground.dir);
    await runBlock(here(block('docs/operations.md', 'foray backup')), place);
    expect((await daemon.stop()).code).toBe(0);
    await runBlock(block('docs/operations.md', 'cp foray-2026-03-01.db'), place);
    expect(await place7()).not.toBe('');
    expect((await sh('foray status --format json', place)).stdout).toContain('"running": false');
  });

  const own = [
    'init',
    'run',
    'stop',
    'retry',
    'status',
    'logs',
    'unpark',
    'explain',
    'pause',
    'resume',
    'plan',
    'stats',
    'validate',
  ];
  const more = ['doctor', 'backup', 'completion', 'schema'];
  /** Of these the examples are run by others: a demo to look at, the tool server of a session, two that need PostgreSQL. */
  const others = ['demo', 'mcp', 'migrate', 'worker'];
  it('no command has an example that nothing runs', () => {
    expect(COMMANDS.map(({ name }) => name).toSorted()).toEqual([...own, ...more, ...others].toSorted());
  });
});

function example(name: string): string {
  return COMMANDS.find((command) => command.name === name)?.example ?? '';
}

async function readEvent(answer: Response, pattern: RegExp): Promise<readonly string[]> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const found = pattern.exec(text);
    if (found) return found;
  }
  throw new Error(`the stream ended without ${String(pattern)}:\n${text}`);
}

it('several projects: each service has its own file and port', async () => {
  for (const line of block('docs/recipes.md', 'foray --port 8081').trim().split('\n')) {
    const [, port = '', folder = ''] = /--port (\d+) (\w+)\/WORKFLOW\.md/.exec(line) ?? [];
    const dir = ground.path('several');
    await mkdir(path.join(dir, folder), { recursive: true });
    await writeFile(path.join(dir, folder, 'WORKFLOW.md'), fileWorkflow());
    await writeFile(path.join(dir, folder, 'issues.json'), '[]');
    await untilShown(line.replace(port, '0'), /http server listening/, { dir });
  }
});

describe('recipes for hooks', () => {
  const hooksOf = (heading: string): Readonly<Record<string, string>> => {
    const section = textOf('docs/recipes.md').split(`## ${heading}\n`)[1] ?? '';
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
    return Object.fromEntries(
      [...yaml.matchAll(/^ {2}(after_create|before_remove): (.*)$/gm)].map(([, name = '', line = '']) => [name, line]),
    );
  };
  const git = (line: string, place: Place) => sh(`git -c user.name=a -c user.email=a@example.com ${line}`, place);

  it('a private repository is cloned, a monorepo gives worktrees', async () => {
    const home = ground.path('home');
    await mkdir(path.join(home, 'mirror'), { recursive: true });
    const place = { dir: home };
    for (const line of [
      'init -q -b main shop',
      '-C shop commit -q --allow-empty -m first',
      'clone -q --no-checkout shop mirror/shop',
      '-C shop commit -q --allow-empty -m second',
    ])
      expect(await git(line, place)).toMatchObject({ code: 0 });
    await sh(`git config --global url.${home}/shop.insteadOf git@github.com:acme/shop.git`, place);

    const workspace = path.join(home, 'ws');
    await mkdir(workspace);
    const env = { FORAY_WORKSPACE: workspace };
    const cloned = await sh(hooksOf('Private repository')['after_create'] ?? '', { dir: workspace, env: { ...env, HOME: home } });
    expect(cloned, cloned.stderr).toMatchObject({ code: 0 });
    await rm(workspace, { recursive: true });
    await mkdir(workspace);
    const monorepo = hooksOf('Monorepo');
    const made = await sh(monorepo['after_create'] ?? '', { dir: workspace, env: { ...env, HOME: home } });
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect((await git('-C mirror/shop worktree list', place)).stdout).toContain(workspace);
    expect((await git('-C ws log --oneline', place)).stdout).toContain('second');
    const removed = await sh(monorepo['before_remove'] ?? '', { dir: workspace, env: { ...env, HOME: home } });
    expect(removed, removed.stderr).toMatchObject({ code: 0 });
  });
});

it('the first steps are taken by a test of their own', () => {
  block('docs/getting-started.md', 'foray init --tracker file');
  expect(textOf('test/docs/getting-started.test.ts')).toContain("snippet('sh')");
});

it('the commands of a contributor exist', () => {
  const [contributing] = SHELL.filter(({ page }) => page === 'CONTRIBUTING.md');
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  for (const [, name = ''] of (contributing?.text ?? '').matchAll(/^npm run (\S+)/gm))
    expect(Object.keys(scripts)).toContain(name);
});

it('every block for a shell is run, or says why not', () => {
  const left = SHELL.filter((one) => !seen.has(one) && !isElsewhere(one)).map(({ page, begins }) => `${page}: ${begins}`);
  expect(left).toEqual([]);
  for (const { begins, by } of ELSEWHERE) {
    expect(
      SHELL.some((one) => one.begins.startsWith(begins)),
      begins,
    ).toBe(true);
    if (by !== undefined) expect(textOf(by)).not.toBe('');
  }
});
