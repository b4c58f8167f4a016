import { afterEach } from 'vitest';
import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import type { Tracker } from '../../../src/ports/tracker.ts';
import { createTracker } from '../../../src/providers/gitlab/tracker.ts';
import { settingsWith } from '../../support/settings.ts';
import type { LogRecord } from '../adapter-deps.ts';
import { depsWith as depsAt } from '../adapter-deps.ts';
import { startFakeGitlab, type FakeGitlab, type FakeGitlabOptions } from '../gitlab.ts';

/** A tracker under test with everything it logged. */
export interface Subject {
  readonly tracker: Tracker;
  readonly records: readonly LogRecord[];
  warnings(): readonly LogRecord[];
}

export const NOW = Date.parse('2026-10-21T07:28:00Z');

export const depsWith = () => depsAt(() => NOW, '9.9.9');

/** A tracker for a remote at this address, without waits between the tries of its preflight. */
export function openSubject(
  remote: { url: string; token: string; project: { path: string } },
  over: Partial<TrackerSettings> = {},
): Subject {
  const { deps, records } = depsWith();
  const settings = trackerSettings({ endpoint: remote.url, apiKey: remote.token, project: remote.project.path, ...over });
  const tracker = createTracker(settings, deps, { retryDelaysMs: [0, 0, 0] });
  return { tracker, records, warnings: () => records.filter(({ level }) => level === 'warn') };
}

/** A tracker connected to a fake of its own, and what it sent there. */
export interface Connected extends Subject {
  readonly fake: FakeGitlab;
  sent(method?: string): readonly string[];
}

const LABELS = ['backlog', 'in-progress', 'done', 'wontfix', 'human-review'];

/** Connects trackers to fakes that are closed after each test. */
export function connections(): (over?: Partial<TrackerSettings>, options?: FakeGitlabOptions) => Promise<Connected> {
  const running: FakeGitlab[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((fake) => fake.close()));
  });
  return async (over = {}, options = {}) => {
    const fake = await startFakeGitlab({ labels: LABELS, ...options });
    running.push(fake);
    const sent = (method?: string): string[] =>
      fake.requests
        .filter((request) => method === undefined || request.method === method)
        .map(({ method: verb, path, query }) => `${verb} ${decodeURIComponent(path.slice(7))}${query.size > 0 ? `?${decodeURIComponent(query.toString())}` : ''}`); // prettier-ignore
    return { fake, sent, ...openSubject(fake, over) };
  };
}

export function trackerSettings(over: Partial<TrackerSettings> = {}): TrackerSettings {
  return settingsWith({
    tracker: {
      kind: 'nsproject',
      apiKey: 'glpat-fake-0123456789',
      project: 'acme/tools/rocket',
      endpoint: 'https://gitlab.example.com',
      activeStates: ['backlog', 'in-progress'],
      terminalStates: ['done', 'wontfix'],
      handoffState: 'human-review',
      ...over,
    },
  }).tracker;
}
