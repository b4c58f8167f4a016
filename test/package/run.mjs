// `npm run test:package`: installs the packed package from the registry into an empty folder, and makes the single file;
// both then take an issue from start to handoff with nothing but a home of their own.
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const WORKFLOW = await readFile(new URL('workflow.md', import.meta.url), 'utf8');

const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-package-'));
try {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  await writeFile(path.join(folder, 'package.json'), '{ "private": true }');
  const installing = ['install', '--ignore-scripts', '--no-audit', '--no-fund', path.join(folder, filename)];
  execFileSync('npm', installing, { cwd: folder, stdio: 'inherit' });
  await handOver('installed', [process.execPath, path.join(folder, 'node_modules/foray/dist/cli.js')]);
  execFileSync('npm', ['run', 'build:single'], { stdio: 'ignore' });
  await handOver('single', [path.resolve('dist-single/foray')]);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function handOver(name, [program, ...args]) {
  const home = path.join(folder, name);
  await mkdir(home);
  await writeFile(path.join(home, 'issues.json'), '[{ "id": "1", "identifier": "A-1", "title": "t", "state": "todo" }]');
  await writeFile(path.join(home, 'WORKFLOW.md'), WORKFLOW);
  const options = { cwd: home, env: { HOME: home, PATH: '/usr/bin:/bin' } };
  console.log(name, execFileSync(program, [...args, '--version'], { ...options, encoding: 'utf8' }).trim());
  execFileSync(program, [...args, 'validate', '--strict'], { ...options, stdio: 'inherit' });
  const daemon = spawn(program, [...args, '--port', '0'], { ...options, stdio: 'inherit' });
  const exited = new Promise((resolve) => daemon.once('exit', resolve));
  const deadline = Date.now() + 30_000;
  while (!(await readFile(path.join(home, 'issues.json'), 'utf8')).includes('review')) {
    if (Date.now() > deadline) throw new Error(`${name}: the issue was not handed over within 30 s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  daemon.kill('SIGINT');
  if ((await exited) !== 0) throw new Error(`${name}: the service did not end well`);
  execFileSync(program, [...args, 'stats'], { ...options, stdio: 'inherit' });
}
