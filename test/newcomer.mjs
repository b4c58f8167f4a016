// `npm run test:newcomer`: a fresh clone, the two commands of the README, then every tracker from init to handoff, and to an open request.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-newcomer-'));
const clone = path.join(folder, 'foray');
try {
  execFileSync('git', ['clone', '--quiet', process.cwd(), clone], { stdio: 'inherit' });
  const [install, demo] = (await readFile(path.join(clone, 'README.md'), 'utf8'))
    .match(/^npm ci && npm run demo$/m)[0]
    .split(' && ');
  execFileSync('sh', ['-c', install], { cwd: clone, stdio: 'inherit' });
  await seeDemo(demo);
  const parts = ['newcomer', 'delivery', 'commands', 'doctor'].map((name) => `test/e2e/${name}.test.ts`);
  execFileSync('npx', ['vitest', 'run', ...parts], { cwd: clone, stdio: 'inherit' });
  console.log('a newcomer got from the clone to the handoff on every tracker, and to a request a reviewer can open');
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Until the page of the demo answers with made-up issues. */
async function seeDemo(command) {
  const demo = spawn('sh', ['-c', `exec ${command}`], { cwd: clone, detached: true });
  try {
    const url = await new Promise((resolve, reject) => {
      let said = '';
      demo.stdout.on('data', (chunk) => {
        said += chunk;
        const found = /Dashboard: (\S+)/.exec(said);
        if (found) resolve(found[1]);
      });
      setTimeout(() => reject(new Error(`the demo gave no address:\n${said}`)), 30_000).unref();
    });
    const page = await (await fetch(url)).text();
    if (!page.includes('DEMO-')) throw new Error('the page of the demo shows no issue');
  } finally {
    process.kill(-demo.pid, 'SIGINT');
    await new Promise((resolve) => demo.once('exit', resolve));
  }
}
