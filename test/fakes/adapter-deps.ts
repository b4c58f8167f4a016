import { TrackerError } from '../../src/domain/model/errors.ts';
import type { ProviderDeps } from '../../src/ports/provider.ts';
import type { LogAttributes, Logger, LogLevel } from '../../src/ports/runtime.ts';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: LogAttributes;
}

export const never = new AbortController().signal;

/** What an adapter is given, with what it logs. */
export function depsWith(now: () => number = Date.now, version = '1.2.3'): { deps: ProviderDeps; records: LogRecord[] } {
  const records: LogRecord[] = [];
  const at =
    (level: LogLevel) =>
    (message: string, attributes: LogAttributes = {}): void =>
      void records.push({ level, message, attributes });
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { deps: { version, workflowDir: '/', clock: { now }, logger }, records };
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
