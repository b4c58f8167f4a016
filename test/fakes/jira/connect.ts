import { onTestFinished } from 'vitest';
import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import { createTracker } from '../../../src/providers/jira/tracker.ts';
import { settingsWith } from '../../support/settings.ts';
import { depsWith } from '../adapter-deps.ts';
import { startFakeJira, type FakeJira, type FakeJiraOptions } from '../jira.ts';

export { failureOf, never } from '../adapter-deps.ts';

type Remote = Readonly<Record<'url' | 'apiKey' | 'project', string>>;

/** Settings as a small workflow file would give them. */
export function settingsFor(remote: Remote, changes: Partial<TrackerSettings> = {}): TrackerSettings {
  return settingsWith({
    tracker: {
      kind: 'wfboard',
      name: 'jira',
      identity: 'test',
      apiKey: remote.apiKey,
      project: remote.project,
      endpoint: remote.url,
      activeStates: ['Backlog', 'In Progress'],
      terminalStates: ['Done', 'Canceled'],
      handoffState: 'Human Review',
      ...changes,
    },
  }).tracker;
}

/** A tracker at work on a remote, with what it logs. Nothing waits between two tries of the preflight, and lists end soon. */
export function openTracker(remote: Remote, changes: Partial<TrackerSettings> = {}, now: () => number = Date.now) {
  const { deps, records } = depsWith(now);
  const patience = { retryDelaysMs: [0, 0, 0], pageCap: 20 };
  return { tracker: createTracker(settingsFor(remote, changes), deps, patience), records };
}

/** A tracker and a remote of its own, which ends with the test. */
export async function connect(options: FakeJiraOptions = {}, changes: Partial<TrackerSettings> = {}, now?: () => number) {
  const fake = await startFakeJira(options);
  onTestFinished(() => fake.close());
  return { fake, ...openTracker(fake, changes, now) };
}

export function queries(fake: FakeJira): Record<string, string>[] {
  return fake.requests.map(({ query }) => Object.fromEntries(query));
}

/** Method and path of every request. */
export function lines(fake: FakeJira): string[] {
  return fake.requests.map(({ method, path }) => `${method} ${path.replace('/rest/api/3', '')}`);
}

/** The fields that issues are asked for with. */
export const FIELDS = 'summary,status,priority,labels,assignee,issuetype,parent,issuelinks,created,updated,description';
