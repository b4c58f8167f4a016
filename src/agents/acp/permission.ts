import type { PermissionPolicy } from './options.ts';
import type { PermissionRequest } from './wire.ts';

/** What each policy answers, first choice first. A lasting answer only where a single one is not offered. */
export const ANSWERS: Readonly<Record<PermissionPolicy, readonly string[]>> = {
  allow: ['allow_once', 'allow_always'],
  deny: ['reject_once', 'reject_always'],
};

/** The option that the policy chooses, or null when the agent offers none that it may choose. */
export function choosePermission(policy: PermissionPolicy, { options }: PermissionRequest): string | null {
  for (const kind of ANSWERS[policy]) {
    const option = options.find((one) => one.kind === kind);
    if (option) return option.optionId;
  }
  return null;
}

export const CANCELLED_PERMISSION = { outcome: { outcome: 'cancelled' } } as const;

export function selectedPermission(optionId: string) {
  return { outcome: { outcome: 'selected', optionId } } as const;
}
