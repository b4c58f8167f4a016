// `npm run test:nodes`: the store and the built command on the other versions of Node that are supported, where they can
// be had from the registry. Each is a package that needs no install script.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = ['20', '22', '24', '26'];
const TESTS = [
  'src/store',
  'src/lib/http/client.test.ts',
  'test/e2e/normal-run.test.ts',
  'test/e2e/crash.test.ts',
  'test/e2e/signals.test.ts',
  'test/faults/environment.test.ts',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const own = process.versions.node.split('.')[0];
let failed = false;
for (const version of VERSIONS.filter((wanted) => wanted !== own)) {
  const node = fetchNode(version);
  if (node === null) {
    console.log(`Node ${version}: not to be had here, skipped`);
    continue;
  }
  console.log(`Node ${version}: ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
  const args = [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...TESTS];
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH'] ?? ''}` };
  if (spawnSync(node, args, { cwd: root, stdio: 'inherit', env }).status !== 0) failed = true;
}
process.exitCode = failed ? 1 : 0;

/** Its program, installed once; null where the registry does not have it. */
function fetchNode(version) {
  const folder = path.join(root, 'node_modules', '.cache', `node-${version}`);
  const program = path.join(folder, 'node_modules', platform, 'bin', 'node');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const args = [
    'install',
    '--no-save',
    '--no-fund',
    '--no-audit',
    '--ignore-scripts',
    '--prefix',
    folder,
    `${platform}@${version}`,
  ];
  spawnSync('npm', args, { stdio: 'ignore', timeout: 120_000 });
  return existsSync(program) ? program : null;
}
