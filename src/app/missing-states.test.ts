import { expect, it } from 'vitest';
import { startFakeGithub } from '../../test/fakes/github.ts';
import { startFakeJira } from '../../test/fakes/jira.ts';
import { hang, text } from '../../test/support/http-server.ts';
import { settingsWith } from '../../test/support/settings.ts';
import type { TrackerSettings } from '../domain/model/settings.ts';
import type { BuiltAdapters } from './build-adapters.ts';
import { withMissingStates } from './missing-states.ts';

const signal = new AbortController().signal;

async function check(tracker: Partial<TrackerSettings>) {
  const told: string[] = [];
  const tell = (message: string, facts?: object): void => void told.push(`${message} ${JSON.stringify(facts)}`);
  const logger = { debug: () => {}, info: tell, warn: tell, error: tell };
  const workflow = { path: '/w/WORKFLOW.md', problems: [], settings: settingsWith({ tracker }) };
  const deps = { version: '1', clock: { now: Date.now }, logger };
  const { workflow: after } = await withMissingStates({ workflow } as unknown as BuiltAdapters, deps, signal);
  return { told, problems: after.problems };
}

it('jira: a handoff state that the project does not have is told at start, with the nearest there is', async () => {
  const jira = await startFakeJira();
  const tracker = { kind: 'wfboard', apiKey: jira.apiKey, endpoint: jira.url, project: jira.project };
  try {
    const { told, problems } = await check({ ...tracker, handoffState: 'Human Reveiw' });
    expect(problems).toEqual([
      {
        severity: 'warning',
        check: 'tracker.handoff_state',
        message: 'the tracker has no state "Human Reveiw": no issue can be moved there; did you mean "Human Review"?',
      },
    ]);
    expect(told).toEqual([expect.stringMatching(/^workflow warning .*tracker\.handoff_state/)]);
    expect((await check({ ...tracker, handoffState: 'human review', inProgressState: 'In Progress' })).problems).toEqual([]);
  } finally {
    await jira.close();
  }
});

it('github: one read of the labels, and none where no run sets any', async () => {
  const github = await startFakeGithub({ labels: ['ready'] });
  const tracker = { kind: 'repoissues', apiKey: github.token, endpoint: github.url, project: 'acme/widgets' };
  try {
    const { problems } = await check({ ...tracker, handoffState: 'review' });
    expect(problems.map(({ message }) => message)).toEqual([
      'the tracker has no label "review": no issue can be moved there; it has ready',
    ]);
    expect(github.requests).toHaveLength(1);
    await check({ ...tracker, handoffState: null });
    expect(github.requests).toHaveLength(1);
  } finally {
    await github.close();
  }
});

it.each([
  ['does not know the route', () => text('no', 404)],
  ['fails', () => text('no', 500)],
  ['does not answer', () => hang()],
])('a remote that %s says nothing and holds nothing up for long', async (_what, reply) => {
  const github = await startFakeGithub();
  try {
    github.failNext(/labels/, reply());
    const tracker = { kind: 'repoissues', apiKey: github.token, endpoint: github.url, project: 'acme/widgets' };
    expect(await check({ ...tracker, handoffState: 'review' })).toEqual({ told: [], problems: [] });
  } finally {
    await github.close();
  }
});
