import type { WaitingClaim } from '../model/claim.ts';
import type { HoldReason, HoldVerdict } from '../model/hold.ts';

/** Reasons that a list alone does not end: they hold until the issue is read again. */
export const UNTIL_READ: ReadonlySet<HoldReason> = new Set([
  'untrusted_author',
  'not_approved',
  'approval_not_read',
  'changed_after_approval',
  'read_again',
  'blocked_by',
  'blockers_unresolved',
]);

/** The error of a retry that waits for something else than its time. */
export function heldError({ reason, detail }: HoldVerdict): string {
  return `${reason}: ${detail}`;
}

/** What a waiting retry was held for when its issue was last read. */
export function heldFor({ error }: Pick<WaitingClaim, 'error'>): HoldVerdict | null {
  const reason = [...UNTIL_READ].find((name) => error.startsWith(`${name}: `));
  return reason === undefined ? null : { reason, detail: error.slice(reason.length + 2) };
}
