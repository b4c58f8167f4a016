import { describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { readWorkflow } from './workflow.ts';

function load({ worker }: { worker: string }) {
  const lines = worker.replaceAll(/^/gm, '  ');
  const yaml = `tracker: { kind: file, active_states: [todo] }\nfile: { path: issues.json }\nworker:\n${lines}`;
  return readWorkflow(`---\n${yaml}\n---\nDo it.\n`, '/srv/WORKFLOW.md', fakeContext());
}

describe('worker.ssh_hosts', () => {
  it.each([
    ['ssh_hosts: ["-oProxyCommand=evil"]', 'worker.ssh_hosts', 'is no name of a host'],
    ['ssh_hosts: ["a b"]', 'worker.ssh_hosts', 'is no name of a host'],
    ['ssh_hosts: [a, a]', 'worker.ssh_hosts', 'a is named twice'],
    ['ssh_root: relative', 'worker.ssh_root', 'must be an absolute path'],
    ['ssh_root: /a/../b', 'worker.ssh_root', 'must be an absolute path'],
    ['ssh_env: ["$TOKEN"]', 'worker.ssh_env', 'is no name of a variable'],
  ])('%s is refused', (line, check, message) => {
    const { problems } = load({ worker: line });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({ check, message: expect.stringContaining(message) as string }),
    ]);
  });

  it('bounds the sessions by what the hosts take', () => {
    const { settings } = load({ worker: 'ssh_hosts: [a, me@b.example]\nmax_concurrent_agents_per_host: 2' });
    expect(settings?.agent.maxConcurrentAgents).toBe(4);
    expect(settings?.worker).toMatchObject({ sshHosts: ['a', 'me@b.example'], maxPerHost: 2 });
    expect(settings?.worker.sshRoot).toMatch(/^~\/\.local\/state\/foray\/workspaces\//);
  });
});

describe('agent.run_on', () => {
  const STORE = 'store: { url: "postgres://u@db/foray" }';
  it.each([
    ['agent: { run_on: [] }', 'needs store.url'],
    [
      `agent: { run_on: [gpu] }\nworker: { ssh_hosts: [a] }\n${STORE}`,
      'cannot be used with worker.ssh_hosts: choose one of them',
    ],
    [`agent: { run_on: [], user: nobody }\n${STORE}`, 'cannot be used with agent.user'],
    [`agent: { run_on: [], user: nobody }\n${STORE}`, 'start the worker as that user'],
  ])('%s is refused', (lines, message) => {
    const yaml = `tracker: { kind: file, active_states: [todo] }\nfile: { path: issues.json }\n${lines}`;
    const { problems } = readWorkflow(`---\n${yaml}\n---\nDo it.\n`, '/srv/WORKFLOW.md', fakeContext());
    expect(problems).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        check: 'agent.run_on',
        message: expect.stringContaining(message) as string,
      }),
    );
  });
});
