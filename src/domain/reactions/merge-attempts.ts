import type { ValueOf } from '../model/data-shape.ts';
import type { ReactionMarks } from '../model/reaction.ts';

/**
 * What earlier tries to merge a head leave behind. `unsureSince`: since when it is not known whether one of them went through,
 * absent where it is. `postponed`: how often the forge asked to come again. `told`: the strategy by which it would have been
 * merged without `dry_run`, as people were told.
 */
export const ATTEMPTS = { unsureSince: 'number or absent', postponed: 'number or absent', told: 'text or absent' } as const;
export type Attempts = ValueOf<typeof ATTEMPTS>;

/** How long a forge may take to show a merge. */
export const SHOWS_WITHIN_MS = 60_000;

/** What the tries of a head that is still open amount to. One that did not show in time did not go through. */
export function attemptsOn(headSha: string, mark: ReactionMarks['auto_merge'], now: number): Attempts {
  if (!('headSha' in mark) || mark.headSha !== headSha) return {};
  const { unsureSince, ...rest } = attemptsIn(mark);
  // A restart came before the answer.
  if (mark.at === 'merging') return { ...rest, unsureSince: now };
  return unsureSince !== undefined && now - unsureSince <= SHOWS_WITHIN_MS ? { ...rest, unsureSince } : rest;
}

/** What a mark says of earlier tries. */
export function attemptsIn(mark: ReactionMarks['auto_merge']): Attempts {
  if (mark.at !== 'waiting' && mark.at !== 'ready' && mark.at !== 'merging' && mark.at !== 'refused') return {};
  const { unsureSince, postponed, told } = mark;
  return {
    ...(unsureSince !== undefined && { unsureSince }),
    ...(postponed !== undefined && { postponed }),
    ...(told !== undefined && { told }),
  };
}
