import { afterEach } from 'vitest';
import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import type { LogAttributes, Logger } from '../../../src/ports/runtime.ts';
import type { Tracker } from '../../../src/ports/tracker.ts';
import { createTracker } from '../../../src/providers/github/tracker.ts';
import { settingsWith } from '../../support/settings.ts';
import { type FakeGithub, type FakeGithubOptions, startFakeGithub } from '../github.ts';

export { failureOf } from '../adapter-deps.ts';

export interface LogRecord {
  readonly message: string;
  readonly attributes: LogAttributes;
}

export interface Connected {
  readonly fake: FakeGithub;
  readonly tracker: Tracker;
  readonly warnings: readonly LogRecord[];
}

/** A fake remote and a tracker that talks to it, as the defaults of the kind have it. */
export async function connectTracker(
  options: FakeGithubOptions = {},
  settings: Partial<TrackerSettings> = {},
): Promise<Connected> {
  const fake = await startFakeGithub(options);
  const written = trackerSettings({
    endpoint: fake.url,
    apiKey: fake.token,
    project: options.project ?? 'acme/widgets',
    ...settings,
  });
  return { fake, ...trackerWith(written) };
}

/** A tracker without a remote of its own. */
export function trackerWith(settings: TrackerSettings): { tracker: Tracker; warnings: readonly LogRecord[] } {
  const warnings: LogRecord[] = [];
  const quiet = (): void => undefined;
  const warn = (message: string, attributes: LogAttributes = {}): void => void warnings.push({ message, attributes });
  const logger: Logger = { debug: quiet, info: quiet, error: quiet, warn };
  const clock = { now: () => Date.parse('2026-10-21T07:28:00Z') };
  return {
    tracker: createTracker(settings, { logger, clock, version: '1.2.3', workflowDir: '/' }, { retryDelaysMs: [1, 1] }),
    warnings,
  };
}

export function trackerSettings(parts: Partial<TrackerSettings> = {}): TrackerSettings {
  const states = {
    activeStates: ['backlog', 'in-progress', 'review'],
    terminalStates: ['done', 'wontfix'],
    handoffState: 'needs-review',
  };
  return settingsWith({
    tracker: { kind: 'repoissues', project: 'acme/widgets', apiKey: 'fake-token-0123456789', ...states, ...parts },
  }).tracker;
}

type Connect = (options?: FakeGithubOptions, settings?: Partial<TrackerSettings>) => Promise<Connected>;

/** The same for a test file: whatever it connects is closed after each test. */
export function connections(): Connect {
  const open: FakeGithub[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((fake) => fake.close()));
  });
  return async (options, settings) => {
    const connected = await connectTracker(options, settings);
    open.push(connected.fake);
    return connected;
  };
}

/** `GET /issues?state=open`: what was asked so far, readable and without the repository. */
export function asked(fake: FakeGithub): string[] {
  return fake.requests.map(({ method, path, query }) => {
    const text = decodeURIComponent(query.toString().replaceAll('+', ' '));
    return `${method} ${path.replace('/repos/acme/widgets', '')}${text && `?${text}`}`;
  });
}

/** The documented list and search requests, as `asked` shows them. */
export const LIST = 'GET /issues?state=open&sort=created&direction=asc&per_page=50';
export const searchFor = (qualifiers: string): string =>
  `GET /search/issues?q=repo:acme/widgets type:issue ${qualifiers}&sort=created&order=asc&per_page=50`;
