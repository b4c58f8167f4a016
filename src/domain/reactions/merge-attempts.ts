import type { ValueOf } from '../model/data-shape.ts';
import type { ReactionMarks } from '../model/reaction.ts';

/**
 * What earlier tries to merge a head leave behind. `unsureSince`: since when it is not known whether one of them went through,
 * absent where it is.
 */
export const ATTEMPTS = { unsureSince: 'number or absent' } as const;
export type Attempts = ValueOf<typeof ATTEMPTS>;

/** How long a forge may take to show a merge. */
export const SHOWS_WITHIN_MS = 60_000;

/** What the tries of a head that is still open amount to. One that did not show in time did not go through. */
export function attemptsOn(headSha: string, mark: ReactionMarks['auto_merge'], now: number): Attempts {
  if (!('headSha' in mark) || mark.headSha !== headSha) return {};
  // A restart came before the answer.
  if (mark.at === 'merging') return { unsureSince: now };
  const { unsureSince } = 'unsureSince' in mark ? mark : {};
  return unsureSince !== undefined && now - unsureSince <= SHOWS_WITHIN_MS ? { unsureSince } : {};
}
