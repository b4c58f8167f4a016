import { TrackerError } from '../../domain/model/errors.ts';
import { remedyWhereWaitingFails } from '../../domain/model/remedies.ts';

/** What a person can do who asked the tracker once and was not answered: nobody asks it again by itself. */
export function accessRemedy(error: unknown): string {
  if (!(error instanceof TrackerError)) return SEE_MESSAGE;
  if (error.isOfFile) return 'see the message: the file or folder of file.path';
  const lasting = remedyWhereWaitingFails(error.message);
  if (lasting !== null) return lasting;
  if (error.asksToWait) return 'the tracker limits requests: ask again when the time is over';
  // The kind before the status: some remotes refuse a token by an answer of 500.
  if (!error.retryable) return SEE_MESSAGE;
  if ((error.status ?? 0) >= 500) return 'the tracker has trouble of its own: ask again later';
  if (LASTING.has(error.status ?? 0)) return SEE_MESSAGE;
  if (error.kind === 'tracker_transport_error') return 'check tracker.endpoint and the network, then ask again';
  return 'ask again later';
}

const SEE_MESSAGE = 'see the message: the address, the token and its scopes, the project';

/** Gone, or withheld for legal reasons: neither passes. */
const LASTING: ReadonlySet<number> = new Set([410, 451]);
