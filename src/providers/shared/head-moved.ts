import type { MergeOrder, MergeStatus } from '../../ports/scm.ts';

/** Whether somebody pushed to an open request since its head was judged. Null is a request that could not be read again. */
export function hasHeadMoved(now: MergeStatus | null, { expectedSha }: MergeOrder): boolean {
  if (now === null || now.merged || now.closed || now.headSha === '') return false;
  return now.headSha.toLowerCase() !== expectedSha.toLowerCase();
}
