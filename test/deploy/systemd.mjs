// `npm run test:systemd`: deploy/foray.service under a real systemd, as root on Linux, in namespaces of its own. The service starts as
// its user with the credential of the unit, takes an issue to its handoff, is restarted after kill -9 and stops cleanly.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const EXPECTED = {
  issue: 'review',
  user: 'foray',
  token_in_environment: '0',
  without_token: '401',
  with_token: '200',
  workspace: '1',
  restarts: '1',
  after_restart: 'active',
  stopped: 'inactive success',
};

if (process.getuid?.() !== 0 || !existsSync('/lib/systemd/systemd')) {
  console.log('skipped: needs root, Linux and systemd');
  process.exit(0);
}

const report = mkdtempSync(path.join(os.tmpdir(), 'foray-systemd-'));
const script = fileURLToPath(new URL('systemd.sh', import.meta.url));
const args = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child', 'bash', script];
const manager = spawn('unshare', [...args, process.cwd(), realpathSync(process.execPath), report], { stdio: 'inherit' });
try {
  await once(manager, 'exit');
  const told = (name) => (existsSync(path.join(report, name)) ? readFileSync(path.join(report, name), 'utf8') : '');
  const seen = Object.fromEntries(
    told('seen')
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  try {
    for (const [what, value] of Object.entries(EXPECTED)) assert.equal(seen[what], value, what);
    assert.match(seen.last, /"msg":"foray stopped"/);
  } catch (error) {
    console.error(`${told('seen')}\n${told('console')}\n${told('log')}`);
    throw error;
  }
  console.log('the unit starts, hands an issue over, comes back after kill -9 and stops cleanly');
} finally {
  manager.kill('SIGKILL');
  rmSync(report, { recursive: true, force: true });
}
