import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import { createTracker } from '../../../src/providers/linear/tracker.ts';
import { settingsWith } from '../../support/settings.ts';
import type { RecordedRequest } from '../../support/http-server.ts';
import { depsWith } from '../adapter-deps.ts';

export { depsWith, failureOf, never } from '../adapter-deps.ts';

/** Settings as a small workflow file would give them. */
export function settingsFor(over: Partial<TrackerSettings> = {}): TrackerSettings {
  return settingsWith({
    tracker: {
      kind: 'graphql',
      apiKey: 'lin_api_fake0123456789',
      project: 'ENG',
      endpoint: 'https://api.example.com/graphql',
      activeStates: ['todo', 'in progress'],
      terminalStates: ['Done', 'Canceled'],
      handoffState: 'in review',
      ...over,
    },
  }).tracker;
}

/** A tracker at work on the fake, with what it logs. Nothing waits between two tries of the preflight. */
export function openTracker(remote: { url: string; apiKey: string; project: string }, over: Partial<TrackerSettings> = {}) {
  const { deps, records } = depsWith(() => 0);
  const settings = settingsFor({ endpoint: remote.url, apiKey: remote.apiKey, project: remote.project, ...over });
  const tracker = createTracker(settings, deps, { retryDelaysMs: [0, 0, 0] });
  return { tracker, records, warnings: () => records.filter(({ level }) => level === 'warn') };
}

/** What was asked, in short: the name of each document. */
export function asked(requests: readonly RecordedRequest[], from = 0): readonly string[] {
  return requests.slice(from).map((request) => /(?:query|mutation) (\w+)/.exec(bodyOf(request).query)?.[1] ?? '');
}

export function bodyOf(request: RecordedRequest | undefined): { query: string; variables: Record<string, unknown> } {
  return request?.json() as { query: string; variables: Record<string, unknown> };
}
