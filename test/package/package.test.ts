import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;

// What npm would install beside the package: all else is inside it.
const NEEDED = ['@photostructure', 'node-gyp-build'];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foray-package-'));
  const npm = path.join(path.dirname(process.execPath), 'npm');
  const packing = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const output = execFileSync(existsSync(npm) ? npm : 'npm', packing, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(output) as { files: { path: string }[] }[];
  for (const { path: name } of packed?.files ?? []) {
    const target = path.join(folder, 'node_modules/package', name);
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(path.join(ROOT, name), target);
  }
  for (const name of NEEDED) await symlink(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

function foray(...argv: readonly string[]): string {
  const command = path.join(folder, 'node_modules/package/dist/cli.js');
  return execFileSync(process.execPath, [command, ...argv], {
    cwd: folder,
    encoding: 'utf8',
    env: { HOME: folder, PATH: '/usr/bin:/bin' },
  });
}

it('the packed package runs without the checkout, a compiler or an install script', () => {
  expect(foray('--version')).toMatch(/^foray \d+\.\d+\.\d+\n$/);
  expect(foray('--help')).toContain('Usage:');
  writeFiles();
  foray('validate');
  expect(JSON.parse(foray('status', '--format', 'json'))).toMatchObject({ service: { running: false } });
  // The library of the database is loaded, with the binary it brings.
  foray('pause');
  expect(JSON.parse(foray('status', '--format', 'json'))).toMatchObject({ paused: { reason: '' } });
});

function writeFiles(): void {
  execFileSync('sh', ['-c', `cat > WORKFLOW.md <<'END'\n${WORKFLOW}END\necho '[]' > issues.json`], { cwd: folder });
}

const WORKFLOW = readFileSync(new URL('workflow.md', import.meta.url), 'utf8');

it('what users install has one install script, which has nothing to do', () => {
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean; hasInstallScript?: boolean }>;
  };
  const installed = Object.entries(lock.packages).filter(([name, entry]) => name !== '' && !entry.dev && !entry.devOptional);
  // It brings its binaries, so that the script finds nothing to build; the test above runs without it.
  expect(installed.filter(([, entry]) => entry.hasInstallScript).map(([name]) => name)).toEqual([
    'node_modules/@photostructure/sqlite',
  ]);
});
