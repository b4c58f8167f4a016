// Installs the programs that the agent tests drive into this folder's own node_modules, and nowhere else. Linux only.
import { spawnSync } from 'node:child_process';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, 'node_modules');
const stamp = path.join(modules, '.installed');

/** Programs whose own package needs an install script. The native one is taken from the package of the platform instead. */
const native = {
  claude: `@anthropic-ai/claude-code-linux-${process.arch}/claude`,
  // The lock holds it for this architecture alone; elsewhere its tests are skipped and say so.
  ...(process.arch === 'x64' && { opencode: 'opencode-linux-x64/bin/opencode' }),
};

/** Each is asked for its version once, so that a program that does not run here is told before any test. */
const programs = ['claude-agent-acp', 'codex', 'codex-acp', 'copilot', 'gemini', 'qwen', ...Object.keys(native)];

const wanted = await readFile(path.join(here, 'package-lock.json'), 'utf8');
if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
  await rm(stamp, { force: true });
  run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit']);
  for (const [name, file] of Object.entries(native)) {
    await rm(path.join(modules, '.bin', name), { force: true });
    await symlink(path.join('..', file), path.join(modules, '.bin', name));
  }
  for (const name of programs) run(path.join(modules, '.bin', name), ['--version']);
  await writeFile(stamp, wanted);
}

function run(command, args) {
  const env = { ...process.env, ...(command === 'npm' ? {} : { HOME: modules }) };
  const { status, error } = spawnSync(command, args, { cwd: here, env, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`agent tests: ${command} ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`);
  process.exit(1);
}
