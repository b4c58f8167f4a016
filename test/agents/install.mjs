// Installs the programs that the agent tests drive into this folder's own node_modules, and nowhere else. Linux only.
import { spawnSync } from 'node:child_process';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, 'node_modules');
const stamp = path.join(modules, '.installed');

/**
 * Programs on which the suite does not pass yet: installed beside the others with MORE_AGENTS=1, and no part of the lock. Each
 * edits a file in a turn and is handed over; what the suite then finds: claude-agent-acp and Qwen Code tell fewer tokens than
 * the model counted, OpenCode names its edit otherwise, Copilot names no model, and claude-agent-acp and OpenCode call home.
 */
const more = process.env['MORE_AGENTS']
  ? {
      'claude-agent-acp': '@agentclientprotocol/claude-agent-acp@0.99.1',
      copilot: '@github/copilot@1.0.102',
      opencode: 'opencode-ai@1.18.33',
      qwen: '@qwen-code/qwen-code@0.24.4',
    }
  : {};

/** Programs whose own package needs an install script. The native one is taken from the package of the platform instead. */
const native = {
  claude: `@anthropic-ai/claude-code-linux-${process.arch}/claude`,
  ...(more.opencode && { opencode: `opencode-linux-${process.arch}/bin/opencode` }),
};

const wanted = (await readFile(path.join(here, 'package-lock.json'), 'utf8')) + JSON.stringify(more);
if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
  await rm(stamp, { force: true });
  run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit']);
  const added = Object.values(more);
  if (added.length > 0) run('npm', ['install', '--no-save', '--ignore-scripts', '--no-fund', '--no-audit', ...added]);
  for (const [name, file] of Object.entries(native)) {
    await rm(path.join(modules, '.bin', name), { force: true });
    await symlink(path.join('..', file), path.join(modules, '.bin', name));
  }
  for (const name of ['claude', 'codex', 'codex-acp', 'gemini', ...Object.keys(more)])
    run(path.join(modules, '.bin', name), ['--version']);
  await writeFile(stamp, wanted);
}

function run(command, args) {
  const env = { ...process.env, ...(command === 'npm' ? {} : { HOME: modules }) };
  const { status, error } = spawnSync(command, args, { cwd: here, env, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`agent tests: ${command} ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`);
  process.exit(1);
}
