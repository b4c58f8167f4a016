import { createKnownSecrets, type KnownSecrets } from '../app/secrets.ts';
import type { Settings } from '../domain/model/settings.ts';
import { createLog } from '../lib/log.ts';
import { logOutput } from '../lib/log-output.ts';
import type { Logger } from '../ports/runtime.ts';
import type { LogLevel } from '../ports/runtime.ts';
import type { LogFormat } from './run-settings.ts';

/** Records go to standard error; the command line wins over the file. */
export function openLog(
  flags: { readonly logLevel: LogLevel | null; readonly logFormat: LogFormat | null },
  settings: Settings,
  secrets: KnownSecrets = createKnownSecrets(),
): { readonly logger: Logger; readonly secrets: KnownSecrets } {
  const logger = createLog({
    level: flags.logLevel ?? settings.logging.level,
    format: flags.logFormat ?? settings.logging.format,
    write: logOutput(),
    now: Date.now,
    mask: secrets.mask,
  });
  return { logger, secrets };
}
