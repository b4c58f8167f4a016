import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSsh, type FakeSsh } from '../support/fake-ssh.ts';
import { createPlayground, TOOL_PATH, type Playground } from '../support/daemon.ts';
import { checkSshHosts } from '../support/ssh-hosts.ts';

let ground: Playground;
let ssh: FakeSsh;
beforeEach(async () => {
  ground = await createPlayground({ patienceMs: 30_000 });
  ssh = await createFakeSsh();
});
afterEach(async () => {
  await ground.cleanup();
  await ssh.remove();
});

describe('agents on hosts over ssh', () => {
  it('work in workspaces there, move when a host is gone, and end when they are told to', { timeout: 90_000 }, async () => {
    const homes = { one: await ssh.homeOf('one'), two: await ssh.homeOf('two') };
    await checkSshHosts({ ground, homes, path: `${ssh.folder}:${TOOL_PATH}`, setReachable: ssh.setReachable });
    expect(ssh.folder).not.toBe('');
  });
});
