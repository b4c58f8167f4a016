import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRemote } from '../../src/lib/ssh/index.ts';
import { createPlayground, eventually, freePort, TOOL_PATH } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';
import { checkSshHosts } from '../support/ssh-hosts.ts';

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/sbin/sshd'].find((file) => existsSync(file));
if (SSHD === undefined) console.log('skipped: there is no sshd here; install openssh-server to run these tests');

/** One account is every host: what it finds in HOME depends on the name it was called by. */
const LOGIN = `#!/bin/sh
HOME=FOLDER/home-$HOST; export HOME
cd "$HOME" && exec sh -c "$SSH_ORIGINAL_COMMAND"
`;

describe.skipIf(SSHD === undefined)('a real SSH server on loopback', () => {
  let folder: string;
  let server: ChildProcess;
  const file = (name: string): string => path.join(folder, name);

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'foray-sshd-')));
    const port = await freePort();
    for (const key of ['host', 'user', 'stranger']) execFileSync('ssh-keygen', ['-qt', 'ed25519', '-N', '', '-f', file(key)]);
    for (const home of ['home-one', 'home-two']) await mkdir(file(home));
    await writeFile(file('login'), LOGIN.replaceAll('FOLDER', folder));
    await chmod(file('login'), 0o755);
    await writeFile(file('authorized_keys'), await readFile(file('user.pub')));
    await writeFile(
      file('sshd_config'),
      [
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        `HostKey ${file('host')}`,
        `AuthorizedKeysFile ${file('authorized_keys')}`,
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'StrictModes no',
        'UsePAM no',
        `PidFile ${file('pid')}`,
        'AcceptEnv HOST',
        `ForceCommand ${file('login')}`,
        '',
      ].join('\n'),
    );
    const [type = '', key = ''] = (await readFile(file('host.pub'), 'utf8')).split(' ');
    await writeFile(
      file('known_hosts'),
      `one ${type} ${key}\ntwo ${type} ${key}\nliar ${(await readFile(file('stranger.pub'), 'utf8')).trim()}\n`,
    );
    const host = (name: string): string =>
      [`Host ${name}`, 'HostName 127.0.0.1', `HostKeyAlias ${name}`, `SetEnv HOST=${name === 'two' ? 'two' : 'one'}`].join('\n');
    await writeFile(
      file('config'),
      [
        ...['one', 'two', 'liar', 'unknown'].map(host),
        'Host *',
        `Port ${port}`,
        `IdentityFile ${file('user')}`,
        'IdentitiesOnly yes',
        `UserKnownHostsFile ${file('known_hosts')}`,
        'StrictHostKeyChecking no',
        '',
      ].join('\n'),
    );
    // The client looks for its configuration in the home directory that the system knows, not in HOME.
    await mkdir(file('bin'));
    await writeFile(
      file('bin/ssh'),
      `#!/bin/sh\nexec ${execFileSync('which', ['ssh'], { encoding: 'utf8' }).trim()} -F ${file('config')} "$@"\n`,
    );
    await chmod(file('bin/ssh'), 0o755);
    if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
    server = spawn(SSHD ?? '', ['-D', '-e', '-f', file('sshd_config')], { stdio: 'ignore' });
    await eventually(
      () => answers(port),
      (answered) => answered,
      'the SSH server',
    );
  });

  afterAll(async () => {
    server?.kill();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const start = (host: string, script = 'echo "$PWD"; sleep 300 & echo $!; wait', more: { patienceMs?: number } = {}) =>
    startRemote(
      { host, env: { PATH: `${file('bin')}:${process.env['PATH']}` }, markVariable: 'RUN', patienceMs: 30_000, ...more },
      {
        command: 'sh',
        args: ['-c', script],
        cwd: '/usr',
        env: { RUN: `r-${randomUUID()}`, SECRET: 'told over standard input alone' },
      },
    );
  const endOf = async (pid: number): Promise<boolean> => {
    const until = Date.now() + 15_000;
    while (isAlive(pid) && Date.now() < until) await delay(100);
    return !isAlive(pid);
  };

  it('runs a program and ends it with the connection', async () => {
    const child = await start('one');
    const lines = child.lines();
    expect((await lines.next()).value).toBe('/usr');
    const pid = Number((await lines.next()).value);
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
    expect(await endOf(pid)).toBe(true);
  });

  it('ends all that a program started when nothing is heard of this side, though the connection stands', async () => {
    const script = `setsid sh -c 'echo $$; exec sleep 302' & sleep 303 & echo $!; wait`;
    const child = await start('one', script, { patienceMs: 4_000 });
    const lines = child.lines();
    const pids = [Number((await lines.next()).value), Number((await lines.next()).value)];
    // Heartbeats count: by themselves they keep it alive.
    await delay(5_500);
    expect(pids.map(isAlive)).toEqual([true, true]);
    process.kill(child.pid, 'SIGSTOP');
    try {
      expect(await Promise.all(pids.map(endOf))).toEqual([true, true]);
    } finally {
      process.kill(child.pid, 'SIGCONT');
      await child.kill();
    }
  });

  it('shows nothing of what is secret on a command line, on either side', async () => {
    const child = await start('one', 'echo "$SECRET"; ps -ww -eo args | grep -c "told over standard [i]nput"; sleep 0.1');
    const said: string[] = [];
    for await (const line of child.lines()) said.push(line);
    expect(said).toEqual(['told over standard input alone', '0']);
    await child.settled;
  });

  it('refuses a host whose key is unknown or another one, whatever the configuration says', async () => {
    await expect(start('unknown')).rejects.toThrow(/Host key verification failed/);
    await expect(start('liar')).rejects.toThrow(/Host key verification failed|IDENTIFICATION HAS CHANGED/);
  });

  it('carries whole runs', async () => {
    const ground = await createPlayground({ patienceMs: 45_000 });
    try {
      const config = await readFile(file('config'), 'utf8');
      const setReachable = async (name: string, reachable: boolean): Promise<void> => {
        const gone = config.replace(`Host ${name}\nHostName 127.0.0.1`, `Host ${name}\nHostName 127.0.0.1\nPort 1`);
        await writeFile(file('config'), reachable ? config : gone);
      };
      const homes = { one: file('home-one'), two: file('home-two') };
      await checkSshHosts({ ground, homes, path: `${file('bin')}:${TOOL_PATH}`, setReachable });
    } finally {
      await ground.cleanup();
    }
  });
});

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
