import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../../test/support/command.ts';
import { fileWorkflow } from '../../test/support/daemon.ts';
import { COMMANDS } from './commands.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-command-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(text: string): Promise<string> {
  const file = path.join(folder, 'WORKFLOW.md');
  await writeFile(file, text);
  await writeFile(path.join(folder, 'issues.json'), '[]');
  return file;
}

describe('the commands', () => {
  it('are all there', () => {
    const names = COMMANDS.map(({ name }) => name);
    for (const name of NAMES) expect(names).toContain(name);
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))('%s has help of its own', async (name, command) => {
    const { code, stdout } = await runHere(name, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage:\n  foray ${name}`);
    expect(stdout).toContain(`Example:\n  ${command.example}`);
    for (const flag of command.flags) expect(stdout).toContain(`--${flag.name}`);
    expect((await runHere('help', name)).stdout).toBe(stdout);
  });

  it.each([
    [['validte'], 2, 'unknown command "validte", did you mean "validate"?'],
    [['xyzzy'], 2, 'unknown command "xyzzy"'],
    [['validte', 'WORKFLOW.md'], 2, 'unknown command "validte", did you mean "validate"?'],
    [['explan', 'A-1', 'WORKFLOW.md'], 2, 'unknown command "explan", did you mean "explain"?'],
    [['--dry-run', 'explan', 'A-1', 'WORKFLOW.md'], 2, 'unknown command "explan", did you mean "explain"?'],
    [['stats1', '--by', 'day'], 2, 'unknown command "stats1", did you mean "stats"?'],
    [['validte', '--help'], 2, 'unknown command "validte", did you mean "validate"?'],
    [['nothing.md', 'A-1'], 2, 'expected one workflow file, got 2: nothing.md A-1'],
    [['completion', 'bash', 'x'], 2, 'expected one argument, got 2: bash x'],
    [['--port', '1', 'statsu'], 2, 'unknown command "statsu", did you mean "status"?'],
    [['help', 'initt'], 2, 'unknown command "initt", did you mean "init"?'],
    [['--format', 'json', 'status'], 2, 'the command comes first: foray status …\nTry: foray status --help'],
    [['./nothing'], 1, 'error: workflow.missing: '],
    [['nothing.md'], 1, 'error: workflow.missing: '],
    [['validate', 'nothing'], 1, 'error: workflow.missing: '],
    [['unpark', '--', '-x', 'nothing.md'], 1, 'error: workflow.missing: '],
    [['explain', 'a', 'b', 'c'], 2, 'expected at most 2 arguments'],
    [['stop'], 2, 'the identifier of the issue'],
    [['--prot', '8080'], 2, 'unknown flag --prot, did you mean --port?\nTry: foray run --help'],
    [['status', '--formt', 'json'], 2, 'unknown flag --formt, did you mean --format?\nTry: foray status --help'],
    [['validate', '--zzz'], 2, 'unknown flag --zzz\nTry: foray validate --help'],
    [['nothing.md'], 1, 'or let foray init write it'],
    [['completion', 'tcsh'], 2, 'completion is made for bash, zsh, fish, got "tcsh"\nTry: foray completion --help'],
    [['--port', 'x', 'nothing.md'], 2, 'got "x"\nTry: foray run --help'],
    [['worker'], 2, 'as in store.url\nTry: foray worker --help'],
    [
      ['worker', '--url', 'postgres://h/d', '--name', 'n'.repeat(65)],
      2,
      '--name may have 64 letters, this one has 65\nTry: foray',
    ],
    [['stats', '--since', '2026-02-30'], 2, 'or a date such as 2026-03-01, got "2026-02-30"'],
    [['stats', '--since', '2026-02-30T10:00:00Z'], 2, 'got "2026-02-30T10:00:00Z"'],
    [['stats', '--since', 'yesterday'], 2, '--since must be a span such as 12h or 7d'],
    [['stats', '--by', 'colour'], 2, '--by must be one of day, agent, state, issue'],
    [['stats', '--by', 'sate'], 2, 'got "sate", did you mean "state"?'],
    [['init', '--yes', '/nowhere/W.md'], 2, 'init needs --tracker'],
    [['init', '--yes', '/nowhere/W.md'], 2, '(which tracker: file, linear, gitlab, github, gitea, forgejo, jira)'],
    [['init', '--tracker', 'xyzzy', '--yes', '/nowhere/W.md'], 2, 'one of file, linear, gitlab, github, gitea, forgejo, jira,'],
    [['init', '--tracker', 'githbu', '--yes', '/nowhere/W.md'], 2, 'did you mean "github"?'],
  ])('%j ends with %i and says what is wrong', async (argv, code, words) => {
    const said = await runHere(...argv);
    expect(said.code).toBe(code);
    expect(said.stderr).toContain(words);
    expect(said.stdout).toBe('');
  });
});

it.each([[['--version']], [['-V']], [['run', '--version']], [['run', '-V']], [['--port', '0', '-V']]])(
  '%j prints the version',
  async (argv) => {
    expect(await runHere(...argv)).toEqual({ code: 0, stdout: expect.stringMatching(/^foray \S+\n$/) as string, stderr: '' });
  },
);

describe('--strict', () => {
  it('refuses a misspelt key, for validate, for a dry run and for a run', async () => {
    const file = await fileOf(fileWorkflow({ agents: 'kind: mock' }));
    expect(await runHere('validate', file)).toMatchObject({ code: 0 });
    const validated = await runHere('validate', '--strict', file);
    expect(validated.code).toBe(1);
    expect(validated.stderr).toMatch(
      /^warning: config\.unknown_key: unknown key `agents`; did you mean `agent`\? \(line \d+, column 1\)$/m,
    );
    for (const argv of [['--strict', '--dry-run'], ['--strict']]) {
      const said = await runHere(...argv, file);
      expect([said.code, said.stdout, ...said.stderr.trim().split('\n')]).toEqual([
        1,
        '',
        expect.stringMatching(/^level=WARN msg="workflow warning" check=config\.unknown_key .*line=\d+ column=1 time=/),
        expect.stringMatching(
          /^level=ERROR msg="foray failed" error="the workflow file has warnings, which --strict refuses" time=/,
        ),
      ]);
    }
  });

  it('tells what is no fault of the file, of which a plain look says nothing', async () => {
    const file = await fileOf(fileWorkflow({ file: 'path: later.json', server: 'token: test-token-12345678' }));
    expect(await runHere('validate', file)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(JSON.parse((await runHere('validate', '--format', 'json', file)).stdout)).toEqual({
      valid: true,
      errors: [],
      warnings: [],
    });
    const { code, stderr } = await runHere('validate', '--strict', file);
    expect(code).toBe(1);
    expect(stderr.match(/^warning: [\w.]+/gm)).toEqual(['warning: file.path.missing']);
  });

  it('is named with its place for programs', async () => {
    const file = await fileOf(fileWorkflow({ agents: 'kind: mock' }));
    const { stdout } = await runHere('validate', '--strict', '--format', 'json', file);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      errors: [],
      warnings: [{ severity: 'warning', check: 'config.unknown_key', file, line: expect.any(Number) as number, column: 1 }],
    });
  });
});

describe('what is wrong with the file, where records are JSON', () => {
  it.each([
    { flags: ['--log-format', 'json'], logging: 'level: info' },
    { flags: ['--dry-run', '--log-format', 'json'], logging: 'level: info' },
    { flags: [], logging: 'format: json' },
    { flags: ['--dry-run'], logging: 'format: json' },
  ])('is a record with its place, %j', async ({ flags, logging }) => {
    const file = await fileOf(fileWorkflow({ agents: 'kind: mock', agent: 'kind: claude', logging }));
    const { code, stderr } = await runHere(...flags, file);
    const place = { file, line: expect.any(Number) as number, column: expect.any(Number) as number };
    expect([
      code,
      ...stderr
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ]).toEqual([
      1,
      expect.objectContaining({ level: 'WARN', msg: 'workflow warning', check: 'config.unknown_key', ...place }),
      expect.objectContaining({ level: 'ERROR', msg: 'workflow error', check: 'agent.kind', ...place }),
    ]);
  });

  it.each([['explain'], ['plan']])('is the same for foray %s --format json', async (command) => {
    const file = await fileOf(fileWorkflow({ agent: 'kind: claude' }));
    const { code, stderr, stdout } = await runHere(command, '--format', 'json', file);
    const told = expect.objectContaining({ msg: 'workflow error', check: 'agent.kind', file }) as object;
    expect([code, stdout, JSON.parse(stderr)]).toEqual([1, '', told]);
  });

  it('is the same for warnings that --strict refuses', async () => {
    const file = await fileOf(fileWorkflow({ agents: 'kind: mock' }));
    const { code, stderr } = await runHere('--strict', '--log-format', 'json', file);
    const records = stderr
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect([code, ...records]).toEqual([
      1,
      expect.objectContaining({ level: 'WARN', msg: 'workflow warning', file, column: 1 }),
      expect.objectContaining({ level: 'ERROR', msg: 'foray failed', error: expect.stringContaining('--strict') as string }),
    ]);
  });

  it('has its place in the findings of doctor', async () => {
    const file = await fileOf(fileWorkflow({ agents: 'kind: mock', agent: 'kind: claude' }));
    const { findings } = JSON.parse((await runHere('doctor', '--format', 'json', file)).stdout) as { findings: object[] };
    const line = expect.any(Number) as number;
    for (const check of ['config.unknown_key', 'agent.kind'])
      expect(findings).toContainEqual(expect.objectContaining({ check, file, line, column: expect.any(Number) as number }));
  });
});

it.each([['explain'], ['status'], ['pause']])(
  'foray %s tells only the errors of a file; its warnings are for validate',
  async (name) => {
    const file = await fileOf(fileWorkflow({ agents: 'kind: mock', agent: 'kind: claude', store: 'url: nowhere' }));
    const { code, stderr } = await runHere(name, file);
    expect(code).toBe(1);
    expect(stderr).toContain('error: store.url: ');
    expect(stderr).not.toContain('warning');
  },
);

it('warnings of a start that fails are records, its errors lines', async () => {
  const file = await fileOf(fileWorkflow({ agents: 'kind: mock', agent: 'kind: claude' }));
  const lines = (await runHere(file)).stderr.trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^level=WARN msg="workflow warning" check=config\.unknown_key .*line=\d+ column=1 time=/),
    expect.stringMatching(
      /^error: agent\.kind: unknown agent kind "claude".* did you mean claude-code\? \(line \d+, column \d+\)$/,
    ),
  ]);
});

it('a fault of the prompt has its place like every other', async () => {
  const file = await fileOf(fileWorkflow({}, 'Hello {{ issue.title }}'));
  const said = await runHere('validate', file);
  expect(said.stderr).toMatch(/^error: template\.parse: unknown function "issue"; .* \(line \d+, column 10\)$/m);
  const { stdout } = await runHere('validate', '--format', 'json', file);
  expect(JSON.parse(stdout)).toMatchObject({
    errors: [{ check: 'template.parse', line: expect.any(Number) as number, column: 10 }],
  });
});

const NAMES =
  'run validate demo init doctor explain plan status stats logs stop retry pause resume unpark schema completion mcp'.split(' ');
