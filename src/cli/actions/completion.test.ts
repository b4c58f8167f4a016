import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../../../test/support/command.ts';
import { findProgram } from '../../lib/process/index.ts';
import { COMMANDS } from '../commands.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-completion-'));
  await mkdir(path.join(folder, 'teams'));
  for (const file of ['WORKFLOW.md', 'My flow.md', 'notes.txt', 'teams/web.md']) await writeFile(path.join(folder, file), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const SHELLS = ['bash', 'zsh', 'fish'] as const;

it.each(SHELLS)('%s knows every command and flag', async (shell) => {
  const { code, stdout } = await runHere('completion', shell);
  expect(code).toBe(0);
  for (const { name, flags } of COMMANDS) {
    expect(stdout).toContain(name);
    for (const flag of flags) expect(stdout).toMatch(new RegExp(`(?:--|-l )${flag.name}\\b`));
  }
});

/** What is typed before the tabulator, and what the line is after it. */
const LINES: readonly (readonly [typed: string, completed: string])[] = [
  ['val', 'validate'],
  ['--dr', '--dry-run'],
  ['WORKF', 'WORKFLOW.md'],
  ['--port 8080 WORKF', '--port 8080 WORKFLOW.md'],
  ['run --st', 'run --strict'],
  ['validate --s', 'validate --strict'],
  ['validate WORKF', 'validate WORKFLOW.md'],
  ['validate My', String.raw`validate My\ flow.md`],
  ['status teams/w', 'status teams/web.md'],
  ['explain --he', 'explain --help'],
  ['stats --by a', 'stats --by agent'],
  ['status --format j', 'status --format json'],
  ['status --format=j', 'status --format=json'],
  ['init --tracker gith', 'init --tracker github'],
  ['init --tracker forg', 'init --tracker forgejo'],
  ['init --agent cl', 'init --agent claude-code'],
  ['worker --root te', 'worker --root teams/'],
  ['completion z', 'completion zsh'],
  ['logs ENG-7 --fol', 'logs ENG-7 --follow'],
];

describe.each(SHELLS)('%s', (shell) => {
  it('completes commands, flags, their values and files', async ({ skip }) => {
    const env = { PATH: process.env['PATH'] ?? '' };
    if ((await findProgram(shell, env)) !== 'found') return skip(`${shell} is not on this machine`);
    if (shell !== 'fish' && (await findProgram('script', env)) !== 'found')
      return skip('no script program gives a terminal here');
    await writeFile(path.join(folder, `foray.${shell}`), (await runHere('completion', shell)).stdout);
    const typed = LINES.map(([line]) => `foray ${line}`);
    const completed = shell === 'fish' ? await askFish(typed) : await typeInto(shell, typed);
    expect(completed).toEqual(LINES.map(([, line]) => `foray ${line}`));
  });
});

/** How a shell writes down the line that is being edited, and begins a new one. */
const SHOW_LINE = {
  bash: `show() { printf '%s\\n' "$READLINE_LINE" >> lines; READLINE_LINE=; }; bind -x '"\\C-xs": show'; source foray.bash`,
  zsh: `autoload -Uz compinit; compinit -u -D; show() { print -r -- "$BUFFER" >> lines; BUFFER=; }; zle -N show; bindkey '^Xs' show; source foray.zsh`,
};

/** Types each line and a tabulator into the shell at a terminal; gives what the lines are then. */
async function typeInto(shell: 'bash' | 'zsh', typed: readonly string[]): Promise<readonly string[]> {
  const file = path.join(folder, 'lines');
  await rm(file, { force: true });
  const quiet = shell === 'bash' ? 'bash --norc --noprofile -i' : 'zsh -f -i';
  const keys = typed.map((line) => `${line}\t\u0018s`).join('');
  await run('script', ['-qec', quiet, '/dev/null'], `${SHOW_LINE[shell]}\n${keys}exit\n`);
  return (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.trim());
}

/** Fish answers without a terminal: one word a line, each with its description. */
async function askFish(typed: readonly string[]): Promise<readonly string[]> {
  const asked = typed.map((line) => `complete -C '${line}'; echo ==`).join('\n');
  await writeFile(path.join(folder, 'asked.fish'), `source foray.fish\n${asked}\n`);
  const output = await run('fish', ['--no-config', 'asked.fish'], '');
  return output
    .split('==\n')
    .slice(0, -1)
    .map((answer, index) => {
      const words = answer
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0] ?? '');
      const before = (typed[index] ?? '').split(' ').slice(0, -1);
      return [...before, ...words.map((word) => word.replaceAll(' ', String.raw`\ `))].join(' ');
    });
}

function run(program: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
    const child = spawn(program, args, { cwd: folder, env });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      resolve(said);
    });
    child.stdin.end(input);
  });
}
