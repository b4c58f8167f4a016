import { TrackerError } from '../../../src/domain/model/errors.ts';
import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import type { ProviderDeps } from '../../../src/ports/provider.ts';
import type { LogAttributes, LogLevel } from '../../../src/ports/runtime.ts';
import { createTracker } from '../../../src/providers/linear/tracker.ts';
import { settingsWith } from '../../support/settings.ts';
import type { RecordedRequest } from '../../support/http-server.ts';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: LogAttributes;
}

export const never = new AbortController().signal;

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
  const { deps, records } = depsWith();
  const settings = settingsFor({ endpoint: remote.url, apiKey: remote.apiKey, project: remote.project, ...over });
  const tracker = createTracker(settings, deps, { retryDelaysMs: [0, 0, 0] });
  return { tracker, records, warnings: () => records.filter(({ level }) => level === 'warn') };
}

export function depsWith() {
  const records: LogRecord[] = [];
  const at =
    (level: LogLevel) =>
    (message: string, attributes: LogAttributes = {}): void =>
      void records.push({ level, message, attributes });
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const deps: ProviderDeps = { version: '1.2.3', workflowDir: '/', clock: { now: () => 0 }, logger };
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

/** What was asked, in short: the name of each document. */
export function asked(requests: readonly RecordedRequest[], from = 0): readonly string[] {
  return requests.slice(from).map((request) => /(?:query|mutation) (\w+)/.exec(bodyOf(request).query)?.[1] ?? '');
}

export function bodyOf(request: RecordedRequest | undefined): { query: string; variables: Record<string, unknown> } {
  return request?.json() as { query: string; variables: Record<string, unknown> };
}
