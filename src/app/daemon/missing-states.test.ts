import { afterEach, expect, it } from 'vitest';
import { startFakeGithub } from '../../../test/fakes/github.ts';
import { startFakeJira } from '../../../test/fakes/jira.ts';
import { startFakeLinear } from '../../../test/fakes/linear.ts';
import { hang, json, reset, text } from '../../../test/support/http-server.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Notice } from '../../domain/model/notice.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { BuiltAdapters } from '../adapters/build-adapters.ts';
import { createNotices } from '../../orchestrator/notices.ts';
import { NO_METER } from '../adapters/request-meter.ts';
import { followMissingStates, type MissingStates } from './missing-states.ts';

const POLLED = {
  name: 'poll:tick:completed',
  facts: { candidates: 0, dispatched: 0, running: 0, retrying: 0, durationMs: 1 },
} as const satisfies Notice;
const RELOADED = { name: 'workflow:file:reloaded', facts: { path: '/w/WORKFLOW.md' } } as const satisfies Notice;

const following: MissingStates[] = [];
afterEach(() => {
  for (const one of following.splice(0)) one.stop();
});

/** A service that watches a tracker: `watch` is an edit that changes it. */
function service(tracker: Partial<TrackerSettings>) {
  const told: string[] = [];
  const debug: string[] = [];
  const tell = (message: string, facts?: object): void => void told.push(`${message} ${JSON.stringify(facts)}`);
  const logger = { debug: (message: string) => void debug.push(message), info: tell, warn: tell, error: tell };
  const notices = createNotices(() => {});
  const adaptersFor = (wanted: Partial<TrackerSettings>) =>
    ({
      tracker: {},
      workflow: { path: '/w/WORKFLOW.md', settings: settingsWith({ tracker: wanted }), placeOf },
    }) as unknown as BuiltAdapters;
  let adapters = adaptersFor(tracker);
  const missing = followMissingStates({
    watched: () => adapters,
    notices,
    provider: { version: '1', clock: { now: Date.now }, logger, meter: NO_METER },
  });
  following.push(missing);
  return {
    told,
    debug,
    missing,
    announce: notices.announce,
    edit: (wanted: Partial<TrackerSettings>) => void (adapters = adaptersFor(wanted)),
  };
}

/** As if every key stood on a line of its own. */
const placeOf = (key: readonly (string | number)[]) => ({ line: key.join('.') === 'tracker.handoff_state' ? 7 : 1, column: 3 });

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

it('jira: a handoff state that the project does not have is told after the first poll, with those there are', async () => {
  const jira = await startFakeJira();
  const tracker = { kind: 'wfboard', apiKey: jira.apiKey, endpoint: jira.url, project: jira.project };
  try {
    const { told, missing, announce, edit } = service({ ...tracker, handoffState: 'Human Reveiw' });
    expect(jira.requests).toEqual([]);
    announce(POLLED);
    await expect.poll(() => told).toHaveLength(1);
    expect(told[0]).toMatch(/^workflow warning .*tracker\.handoff_state/);
    expect(told[0]).toMatch(/"file":"\/w\/WORKFLOW\.md","line":7,"column":3/);
    const [problem] = missing.warnings();
    expect(problem?.message).toMatch(
      /^the tracker has no state "Human Reveiw": no issue can be moved there; did you mean "Human Review"\? it has Backlog, /,
    );
    announce(POLLED);
    announce(RELOADED);
    expect(told).toHaveLength(2);
    await settled();
    expect(jira.requests).toHaveLength(1);
    edit({ ...tracker, handoffState: 'human review', inProgressState: 'In Progress' });
    expect(missing.warnings()).toEqual([]);
    announce(POLLED);
    await expect.poll(() => jira.requests).toHaveLength(2);
    await settled();
    expect(missing.warnings()).toEqual([]);
  } finally {
    await jira.close();
  }
});

it('github: one read of the labels, and none where no run sets any', async () => {
  const github = await startFakeGithub({ labels: ['ready'] });
  const tracker = { kind: 'repoissues', apiKey: github.token, endpoint: github.url, project: 'acme/widgets' };
  try {
    const watching = service({ ...tracker, handoffState: null });
    watching.announce(POLLED);
    await settled();
    expect(github.requests).toEqual([]);
    watching.edit({ ...tracker, handoffState: 'review' });
    watching.announce(POLLED);
    await expect
      .poll(() => watching.missing.warnings().map(({ message }) => message))
      .toEqual(['the tracker has no label "review": no issue can be moved there; it has ready (line 7, column 3)']);
    expect(github.requests).toHaveLength(1);
  } finally {
    await github.close();
  }
});

it('linear: the one state that its preflight does not look at is told too, and nothing is asked for the others', async () => {
  const linear = await startFakeLinear();
  const states = { activeStates: ['Todo', 'In Progress'], terminalStates: ['Done'], handoffState: 'In Review' };
  const tracker = { kind: 'graphql', apiKey: linear.apiKey, endpoint: linear.url, project: linear.project, ...states };
  try {
    const watching = service({ ...tracker, inProgressState: 'in progress', noChangeState: 'In Review' });
    watching.announce(POLLED);
    await settled();
    expect(linear.requests).toEqual([]);
    watching.edit({ ...tracker, noChangeState: 'Dnoe' });
    watching.announce(POLLED);
    await expect.poll(() => watching.missing.warnings()).toMatchObject([{ check: 'tracker.no_change_state' }]);
    expect(watching.missing.warnings()[0]?.message).toMatch(/^the tracker has no state "Dnoe".* did you mean "Done"\?/);
  } finally {
    await linear.close();
  }
});

it.each([
  ['does not know the route', () => text('no', 404)],
  ['fails', () => text('no', 500)],
  ['sends something else', () => json({ surprise: true })],
  ['breaks off', () => reset()],
])('a remote that %s is not told of, nor asked again', async (_what, reply) => {
  const github = await startFakeGithub();
  try {
    github.failNext(/labels/, reply());
    const tracker = { kind: 'repoissues', apiKey: github.token, endpoint: github.url, project: 'acme/widgets' };
    const { told, debug, missing, announce } = service({ ...tracker, handoffState: 'review' });
    announce(POLLED);
    await expect.poll(() => debug).toHaveLength(1);
    announce(POLLED);
    await settled();
    expect({ told, warnings: missing.warnings(), asked: github.requests.length }).toEqual({ told: [], warnings: [], asked: 1 });
  } finally {
    await github.close();
  }
});

it('a remote that does not answer is let go of when the service stops', async () => {
  const github = await startFakeGithub();
  try {
    github.failNext(/labels/, hang());
    const tracker = { kind: 'repoissues', apiKey: github.token, endpoint: github.url, project: 'acme/widgets' };
    const { told, debug, missing, announce } = service({ ...tracker, handoffState: 'review' });
    announce(POLLED);
    await expect.poll(() => github.requests).toHaveLength(1);
    missing.stop();
    await settled();
    expect([...told, ...debug]).toEqual([]);
  } finally {
    await github.close();
  }
});
