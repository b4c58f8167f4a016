import { TrackerError } from '../../../src/domain/model/errors.ts';
import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import type { ProviderDeps } from '../../../src/ports/provider.ts';
import type { LogAttributes, Logger, LogLevel } from '../../../src/ports/runtime.ts';
import { createTracker } from '../../../src/providers/gitea/tracker.ts';
import type { FakeGitea } from '../gitea.ts';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: LogAttributes;
}

export const never = new AbortController().signal;

/** Settings as a small workflow file would give them. */
export function settingsFor(remote: { url: string; token: string; project: string }, changes: Partial<TrackerSettings> = {}) {
  const settings: TrackerSettings = {
    kind: 'selfhosted',
    identity: 'test',
    apiKey: remote.token,
    project: remote.project,
    endpoint: remote.url,
    activeStates: ['todo', 'doing'],
    terminalStates: ['done', 'wontfix'],
    handoffState: 'review',
    inProgressState: null,
    noChangeState: null,
    queryFilter: '',
    authors: 'anyone',
    approvalLabel: null,
    quotaReservePercent: 20,
    userAgent: null,
    comments: { onDispatch: false, onCompletion: false, onFailure: false },
    options: {},
    ...changes,
  };
  return settings;
}

/** A tracker at work on the fake, with what it logs. Nothing waits between two tries of the preflight. */
export function openTracker(fake: FakeGitea, changes: Partial<TrackerSettings> = {}, now: () => number = Date.now) {
  const { deps, records } = depsWith(now);
  const tracker = createTracker(settingsFor(fake, changes), deps, { retryDelaysMs: [0, 0, 0] });
  const logged = (level: LogLevel) => records.filter((record) => record.level === level);
  return { tracker, records, logged };
}

export function depsWith(now: () => number = Date.now) {
  const records: LogRecord[] = [];
  const at =
    (level: LogLevel) =>
    (message: string, attributes: LogAttributes = {}): void =>
      void records.push({ level, message, attributes });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const deps: ProviderDeps = { version: '1.2.3', workflowDir: '/', clock: { now }, logger };
  return { deps, records };
}

/** The TrackerError a call fails with; anything else is a fault of the test. */
export async function failureOf(call: Promise<unknown> | (() => unknown)): Promise<TrackerError> {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    if (error instanceof TrackerError) return error;
    throw error;
  }
  throw new Error('expected a TrackerError, but the call succeeded');
}

/** What was asked, in short: `GET /repos/acme/app/issues?state=open`. */
export function asked(fake: FakeGitea, from = 0): readonly string[] {
  return fake.requests.slice(from).map(({ method, path, query }) => {
    const text = query.toString();
    return `${method} ${path.replace('/api/v1', '')}${text ? `?${text}` : ''}`;
  });
}
