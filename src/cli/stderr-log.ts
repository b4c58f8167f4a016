import { createLog } from '../lib/log.ts';
import type { Logger, LogLevel } from '../ports/runtime.ts';
import type { LogFormat } from './run-settings.ts';

interface StderrLogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Absent where secrets were hidden when the messages were made. */
  readonly mask?: (text: string) => string;
}

/** The log of a command that is no service: on standard error. */
export function stderrLog({ level, format, mask = (text) => text }: StderrLogOptions): Logger {
  return createLog({ level, format, write: (line) => process.stderr.write(line), now: Date.now, mask });
}
