import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import type { LogLevel } from '../../../src/ports/runtime.ts';
import { createTracker } from '../../../src/providers/gitea/tracker.ts';
import { settingsWith } from '../../support/settings.ts';
import type { FakeGitea } from '../gitea.ts';
import { depsWith } from '../adapter-deps.ts';

export { depsWith, failureOf, never } from '../adapter-deps.ts';

/** Settings as a small workflow file would give them. */
export function settingsFor(
  remote: { url: string; token: string; project: string },
  changes: Partial<TrackerSettings> = {},
): TrackerSettings {
  return settingsWith({
    tracker: {
      kind: 'selfhosted',
      name: 'gitea',
      identity: 'test',
      apiKey: remote.token,
      project: remote.project,
      endpoint: remote.url,
      terminalStates: ['done', 'wontfix'],
      ...changes,
    },
  }).tracker;
}

/** A tracker at work on the fake, with what it logs. Nothing waits between two tries of the preflight. */
export function openTracker(fake: FakeGitea, changes: Partial<TrackerSettings> = {}, now: () => number = Date.now) {
  const { deps, records } = depsWith(now);
  const tracker = createTracker(settingsFor(fake, changes), deps, { retryDelaysMs: [0, 0, 0] });
  const logged = (level: LogLevel) => records.filter((record) => record.level === level);
  return { tracker, records, logged };
}

/** What was asked, in short: `GET /repos/acme/app/issues?state=open`. */
export function asked(fake: FakeGitea, from = 0): readonly string[] {
  return fake.requests.slice(from).map(({ method, path, query }) => {
    const text = query.toString();
    return `${method} ${path.replace('/api/v1', '')}${text ? `?${text}` : ''}`;
  });
}
