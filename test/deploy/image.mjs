// `npm run test:image`: what deploy/Dockerfile says, carried out without Docker in a folder of its own. Every COPY is copied, every
// RUN is run by a shell with the places of the image moved into the folder, then the entry point serves with the
// command of the image until its own health check is content. Not tried: the base image, apt and useradd.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';

const WORKFLOW = readFileSync(new URL('../package/workflow.md', import.meta.url), 'utf8');
/** What only a container has: its packages and its users. */
const LEFT_OUT = /^(?:apt-get|useradd)\b/;

const folder = mkdtempSync(path.join(os.tmpdir(), 'foray-image-'));
const place = (name) => path.join(folder, name);
const port = await freePort();
/** Places and the port of the image, as they are here. */
const moved = (text) =>
  text.replaceAll(/(?<![\w.~])\/(tmp|build|work|state)\b/g, `${folder}/$1`).replaceAll('8080', String(port));

try {
  for (const name of ['tmp', 'build', 'work', 'state', 'npm']) mkdirSync(place(name));
  const image = { cwd: folder, entry: [], args: [], health: [], env: { XDG_STATE_HOME: '' } };
  for (const [instruction, rest] of instructionsOf(readFileSync('deploy/Dockerfile', 'utf8'))) carryOut(image, instruction, rest);
  await serve(image);
  console.log('the image serves and is healthy');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Lines that go on are joined, comments left out. */
function instructionsOf(text) {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line));
  return lines.map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]);
}

function carryOut(image, instruction, rest) {
  if (instruction === 'WORKDIR') image.cwd = moved(rest);
  if (instruction === 'ENV') image.env[rest.split('=')[0]] = moved(rest.slice(rest.indexOf('=') + 1));
  if (instruction === 'ENTRYPOINT') image.entry = JSON.parse(rest);
  if (instruction === 'CMD') image.args = JSON.parse(moved(rest));
  if (instruction === 'HEALTHCHECK') image.health = JSON.parse(moved(rest.slice(rest.indexOf('['))));
  if (instruction === 'COPY')
    copy(
      image,
      rest.split(' ').filter((word) => !word.startsWith('--')),
    );
  if (instruction === 'RUN') runSteps(image, rest);
}

/** Of the checkout itself, what git knows: the same that .dockerignore lets through. Both stages have one folder here. */
function copy({ cwd }, [from, to]) {
  if (from !== '.') {
    const name = new RegExp(
      `^${path
        .basename(from)
        .replaceAll('.', String.raw`\.`)
        .replaceAll('*', '.*')}$`,
    );
    if (
      path.resolve(path.dirname(from)) !== path.resolve(to) ||
      !readdirSync(moved(path.dirname(from))).some((file) => name.test(file))
    )
      throw new Error(`nothing to copy from ${from} to ${to}`);
    return;
  }
  const archive = execFileSync('git', ['archive', '--format=tar', 'HEAD'], { maxBuffer: 1 << 28 });
  execFileSync('tar', ['-x', '-C', cwd], { input: archive });
}

function runSteps({ cwd, env }, text) {
  const steps = text.split(' && ').map((step) => step.trim());
  const kept = LEFT_OUT.test(steps[0]) ? [] : steps;
  if (kept.length === 0) return;
  console.log(`RUN ${kept.join(' && ')}`);
  // Certificates, proxies and where packages come from are a matter of this machine.
  const machine = { ...process.env, ...environment(env), npm_config_userconfig: npmSetting('userconfig') };
  execFileSync('sh', ['-c', moved(kept.join(' && '))], { cwd, env: machine, stdio: ['ignore', 'ignore', 'inherit'] });
}

function environment(env) {
  const programs = [path.join(folder, 'npm/bin'), path.dirname(process.execPath), '/usr/bin', '/bin'];
  const npm = { npm_config_prefix: place('npm'), npm_config_cache: npmSetting('cache') };
  return { ...env, ...npm, HOME: folder, PATH: programs.join(':') };
}

function npmSetting(name) {
  return execFileSync('npm', ['config', 'get', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** Until the health check is content and the issue is handed over; then it must end at the signal of the image. */
async function serve({ cwd, entry, args, health, env }) {
  writeFileSync(path.join(cwd, 'WORKFLOW.md'), WORKFLOW);
  writeFileSync(path.join(cwd, 'issues.json'), '[{ "id": "1", "identifier": "A-1", "title": "t", "state": "todo" }]');
  const options = { cwd, env: environment(env) };
  const service = spawn(entry[0], [...entry.slice(1), ...args], { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  try {
    const isHandedOff = () => JSON.parse(readFileSync(path.join(cwd, 'issues.json'), 'utf8'))[0].state === 'review';
    await eventually(() => succeeds(health, options) && isHandedOff());
  } finally {
    service.kill('SIGTERM');
  }
  const code = await ended;
  if (code !== 0) throw new Error(`the service ended with ${code}`);
}

function succeeds([program, ...args], options) {
  try {
    execFileSync(program, args, { ...options, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function eventually(holds) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the image did not become healthy within a minute');
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: free } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return free;
}
