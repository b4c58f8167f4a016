import { accessRemedy } from '../app/adapters/access-remedy.ts';
import { TrackerError } from '../domain/model/errors.ts';
import { errorText } from '../lib/error-text.ts';
import { oneLine } from './output.ts';
import { stderrLog } from './stderr-log.ts';

/** What ended a command, on standard error: a line for people, or a record for programs that asked for JSON. */
export function tellFailure(error: unknown, asJson: boolean): void {
  const message = errorText(error);
  // What may heal says nothing of what to do; the rest has it in its message.
  const remedy = error instanceof TrackerError && error.retryable ? accessRemedy(error) : undefined;
  if (!asJson) {
    // It may quote a remote.
    process.stderr.write(`foray: ${oneLine([message, remedy ?? []].flat().join('; '))}\n`);
    return;
  }
  stderrLog({ level: 'error', format: 'json' }).error('foray failed', { error: message, remedy });
}
