import { accessRemedy } from '../app/adapters/access-remedy.ts';
import { TrackerError } from '../domain/model/errors.ts';
import { createLog } from '../lib/log.ts';
import { errorText } from '../lib/error-text.ts';

/** What ended a command, on standard error: a line for people, or a record for programs that asked for JSON. */
export function tellFailure(error: unknown, asJson: boolean): void {
  const message = errorText(error);
  // What may heal says nothing of what to do; the rest has it in its message.
  const remedy = error instanceof TrackerError && error.retryable ? accessRemedy(error) : undefined;
  if (!asJson) {
    process.stderr.write(`foray: ${[message, remedy ?? []].flat().join('; ')}\n`);
    return;
  }
  const write = (line: string): boolean => process.stderr.write(line);
  // Secrets were hidden where the message was made.
  createLog({ level: 'error', format: 'json', write, now: Date.now, mask: (text) => text }).error('foray failed', {
    error: message,
    remedy,
  });
}
