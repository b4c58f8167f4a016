import { describe, expect, it } from 'vitest';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { RunExit, RunReport } from '../../domain/model/event.ts';
import { refOf } from '../../domain/model/issue.ts';
import type { RunAdapters } from '../../ports/runner.ts';
import { createSshHosts } from './hosts.ts';
import { createSshRunner } from './index.ts';

const worker = { sshHosts: ['a', 'b'], sshRoot: '~/w', sshEnv: [], maxPerHost: 1 };

function setUp() {
  const clock = { at: 1_000, now: () => clock.at };
  return { clock, hosts: createSshHosts(clock) };
}

describe('the choice of a host', () => {
  it('is the one that holds the workspace, else the one with the fewest runs, never a full one', () => {
    const { hosts } = setUp();
    expect(hosts.choose(worker, null)).toBe('a');
    expect(hosts.choose(worker, 'b')).toBe('b');
    hosts.took('a');
    expect(hosts.choose(worker, null)).toBe('b');
    expect(hosts.choose(worker, 'a')).toBe('b');
    expect(hosts.choose({ ...worker, maxPerHost: 0 }, 'a')).toBe('a');
    hosts.took('b');
    expect(hosts.choose(worker, null)).toBeNull();
    hosts.gave('b');
    expect(hosts.choose(worker, null)).toBe('b');
  });

  it('goes around among those with as few runs, so that one on which every run fails does not get all of them', () => {
    const { hosts } = setUp();
    const given = [1, 2, 3].map(() => {
      const host = hosts.choose(worker, null) ?? '';
      hosts.took(host);
      hosts.gave(host);
      return host;
    });
    expect(given).toEqual(['a', 'b', 'a']);
  });

  it('leaves one alone for a minute that could not be reached, and says why none is left', () => {
    const { hosts, clock } = setUp();
    hosts.failed('a', 'no route');
    expect(hosts.choose(worker, 'a')).toBe('b');
    expect(hosts.problemOf(['a', 'b'])).toBeNull();
    hosts.failed('b', 'refused');
    expect(hosts.choose(worker, null)).toBeNull();
    expect(hosts.problemOf(['a', 'b'])).toBe('no route; refused');
    clock.at += 60_000;
    expect(hosts.choose(worker, null)).toBe('a');
    hosts.heard('a');
    expect(hosts.views(worker)[0]).toMatchObject({ name: 'a', heardAt: clock.at, problem: null, slots: 1 });
  });
});

describe('a host that lacks the agent', () => {
  const plan = { settings: settingsWith({ agent: { maxRetryBackoffMs: 300_000 } }) };
  const fault = { kind: 'agent_not_found', message: 'no such program', consequence: 'back-off-at-cap' } as const;
  const lacking: RunExit = { kind: 'error', turns: 0, fault, status: null, scm: null };

  it('is not the one of choice when its issue is tried again, though it holds the workspace, and says why', () => {
    const { hosts, clock } = setUp();
    hosts.heardExit('a', plan, lacking);
    hosts.heard('a');
    clock.at += 330_000;
    expect(hosts.choose(worker, 'a')).toBe('b');
    expect(hosts.views(worker).map(({ problem }) => problem)).toEqual(['no such program', null]);
    clock.at += 60_000;
    expect(hosts.choose(worker, 'a')).toBe('a');
    expect(hosts.views(worker)[0]?.problem).toBeNull();
  });

  it('is taken where no other is free, and is as good as any after a run that went well', () => {
    const { hosts } = setUp();
    hosts.heardExit('a', plan, lacking);
    expect(hosts.choose({ ...worker, sshHosts: ['a'] }, null)).toBe('a');
    expect(hosts.problemOf(['a'])).toBeNull();
    hosts.heardExit('a', plan, { ...lacking, kind: 'normal', fault: null });
    expect(hosts.choose(worker, 'a')).toBe('a');
  });
});

describe('a run that moves to another host', () => {
  it('says so, starts its conversation over and tells paths with their host', async () => {
    const { hosts } = setUp();
    hosts.failed('a', 'no route');
    const reports: RunReport[] = [];
    let resumed: string | null | undefined;
    const adapters = {
      tracker: {
        fetchIssueById: () => Promise.resolve(issueWith({ id: '1' })),
        fetchIssueStatesByIds: () => Promise.resolve(new Map([['1', 'todo']])),
      },
      agent: {
        startSession: ({ resumeSessionId }: { resumeSessionId: string | null }) => {
          resumed = resumeSessionId;
          return Promise.reject(new Error('enough'));
        },
      },
      workspaces: {
        pathFor: () => Promise.resolve('/w/T-1'),
        prepare: () => Promise.resolve({ path: '/w/T-1', created: true }),
        beforeRun: () => Promise.resolve(),
        afterRun: () => Promise.resolve(),
        readScm: () => Promise.resolve(null),
      },
      tools: { open: () => null, statusOf: () => null, close: () => {}, callsOf: () => null },
    } as unknown as RunAdapters;
    const plan: RunPlan = {
      runId: 'r',
      issue: refOf(issueWith({ id: '1' })),
      attempt: 1,
      trigger: 'fresh',
      reaction: null,
      issueAsRead: null,
      resumeSessionId: 'before',
      holder: 'a',
      settings: settingsWith({ rest: { worker } }),
    };
    const killed = new AbortController().signal;
    const runner = createSshRunner({ hosts, adaptersOf: () => adapters, adaptersOn: () => adapters, killed });
    runner.start(plan, { report: (said) => void reports.push(said), announce: () => {} });
    expect(hosts.views(worker)[1]?.running).toBe(1);
    await expect.poll(() => reports.at(-1)?.type).toBe('run-exited');
    expect(resumed).toBeNull();
    expect(reports[1]).toMatchObject({
      event: {
        text: 'the workspace is on a, which cannot be used now: it is made anew on b and the conversation starts over',
      },
    });
    expect(reports.find(({ type }) => type === 'run-prepared')).toMatchObject({ workspacePath: 'b:/w/T-1' });
    expect(hosts.views(worker)[1]?.running).toBe(0);
  });
});
