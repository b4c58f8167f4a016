import { TrackerError } from '../../../src/domain/model/errors.ts';
import type { TrackerSettings } from '../../../src/domain/model/settings.ts';
import type { ProviderDeps } from '../../../src/ports/provider.ts';
import type { LogAttributes, Logger, LogLevel } from '../../../src/ports/runtime.ts';
import { createTracker } from '../../../src/providers/jira/tracker.ts';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: LogAttributes;
}

export const never = new AbortController().signal;

type Remote = Readonly<Record<'url' | 'apiKey' | 'project', string>>;

/** Settings as a small workflow file would give them. */
export function settingsFor(remote: Remote, changes: Partial<TrackerSettings> = {}): TrackerSettings {
  return {
    kind: 'wfboard',
    identity: 'test',
    apiKey: remote.apiKey,
    project: remote.project,
    endpoint: remote.url,
    activeStates: ['Backlog', 'In Progress'],
    terminalStates: ['Done', 'Canceled'],
    handoffState: 'Human Review',
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
}

/** A tracker at work on a remote, with what it logs. Nothing waits between two tries of the preflight, and lists end soon. */
export function openTracker(remote: Remote, changes: Partial<TrackerSettings> = {}, now: () => number = Date.now) {
  const { deps, records } = depsWith(now);
  const patience = { retryDelaysMs: [0, 0, 0], pageCap: 20 };
  return { tracker: createTracker(settingsFor(remote, changes), deps, patience), records };
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
