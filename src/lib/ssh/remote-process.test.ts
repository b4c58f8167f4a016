import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeSsh, type FakeSsh } from '../../../test/support/fake-ssh.ts';
import { isAlive } from '../../../test/support/processes.ts';
import { HostError, startRemote } from './index.ts';
import type { ProcessOptions } from '../process/spawn.ts';

let ssh: FakeSsh;
beforeAll(async () => {
  ssh = await createFakeSsh();
});

afterAll(() => ssh.remove());

function start(script: string, options: Partial<ProcessOptions> = {}) {
  const target = { host: 'far', env: { PATH: `${ssh.folder}:${process.env['PATH']}` }, markVariable: 'RUN', patienceMs: 30_000 };
  return startRemote(target, { command: 'sh', args: ['-c', script], cwd: '/', env: {}, ...options });
}

async function printed(lines: AsyncGenerator<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

describe('a program on another host', () => {
  it('gets its arguments, its environment and its input byte by byte', async () => {
    const env = { SECRET: `it's "quoted" \\ $HOME \u00e9 \n two lines` };
    const child = await start('printf "%s\\n" "$SECRET" "$PWD"; cat', { env, stdin: 'pipe', cwd: '/usr' });
    const lines = printed(child.lines());
    const text = `tab\t, back\\slash, %s, ü, ${'x'.repeat(100_000)}\nno end of line`;
    await child.stdin.write('{"a":"b\\n"}\n');
    await child.stdin.write(text);
    child.stdin.end();
    expect(await lines).toEqual([...env.SECRET.split('\n'), '/usr', '{"a":"b\\n"}', ...text.split('\n')]);
    expect(await child.settled).toEqual({ code: 0, signal: null });
  });

  it('shows no secret on a command line', async () => {
    const id = randomUUID();
    const child = await start(`ps -ww -eo args | grep -c "s3[c]ret-${id}"`, { env: { SECRET: `s3cret-${id}` } });
    expect(await printed(child.lines())).toEqual(['0']);
    await child.settled;
    expect(await readFile(path.join(ssh.folder, 'commands'), 'utf8')).not.toContain('s3cret');
  });

  it('tells exit codes, also those that ssh itself uses, and what was printed on standard error', async () => {
    const child = await start('echo oops >&2; exit 255');
    expect(await child.settled).toEqual({ code: 255, signal: null });
    expect(child.stderrTail()).toBe('oops\n');
  });

  it('says what keeps it from starting', async () => {
    await expect(start('', { command: 'no-such-program' })).rejects.toMatchObject({ failure: 'not_found' });
    await expect(start('', { cwd: '/no/such' })).rejects.toMatchObject({ failure: 'no_directory' });
    await ssh.setReachable('far', false);
    await expect(start('true')).rejects.toThrow('cannot work on far over ssh: ssh: connect to host far port 22');
    await expect(start('true')).rejects.toBeInstanceOf(HostError);
    await ssh.setReachable('far', true);
  });

  it('is interrupted, stopped and killed with all it started', async () => {
    const child = await start('trap "echo interrupted" INT; sleep 300 & echo $!; while :; do wait; sleep 1; done');
    const lines = child.lines();
    const pid = Number((await lines.next()).value);
    child.signal('SIGINT');
    expect((await lines.next()).value).toBe('interrupted');
    await child.stop(1_500);
    expect(isAlive(pid)).toBe(false);
  });

  it('ends with all it started when the connection breaks, and what left its group as well', async () => {
    const script = `sleep 300 & echo $!; setsid sh -c 'echo $$; exec sleep 301' & wait`;
    const child = await start(script, { env: { RUN: randomUUID() } });
    const lines = child.lines();
    const pids = [Number((await lines.next()).value), Number((await lines.next()).value)];
    expect(pids.map(isAlive)).toEqual([true, true]);
    process.kill(-child.pid, 'SIGKILL');
    expect(await child.exited).toMatchObject({ signal: null });
    expect(child.stderrTail()).toContain('the connection to far ended before the program did');
    await expect.poll(() => pids.map(isAlive), { timeout: 30_000 }).toEqual([false, false]);
  });
});
