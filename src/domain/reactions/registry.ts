import type { ReactionKind, ReactionSettings } from '../model/settings.ts';
import { AUTO_MERGE } from './auto-merge.ts';
import { CI_FAILURE } from './ci-failure.ts';
import { LABEL_COMMANDS } from './label-commands.ts';
import { MERGE_COMPLETION } from './merge-completion.ts';
import { MERGE_CONFLICTS } from './merge-conflicts.ts';
import type { Reaction } from './reaction.ts';
import { BOT_REVIEW, REVIEW_COMMENTS } from './reviews.ts';

/** Every reaction, in the order of judgement: a conflict before a merge, and completion last, so that a merge just made is seen. */
export const REACTIONS: readonly Reaction[] = [
  CI_FAILURE,
  REVIEW_COMMENTS,
  BOT_REVIEW,
  MERGE_CONFLICTS,
  AUTO_MERGE,
  LABEL_COMMANDS,
  MERGE_COMPLETION,
];

/** Those that are switched on, in the order of judgement. */
export function activeReactions(settings: ReactionSettings): readonly Reaction[] {
  return REACTIONS.filter(({ kind }) => settings.on[kind] !== undefined);
}

export function reactionOf(kind: ReactionKind): Reaction {
  const found = REACTIONS.find((reaction) => reaction.kind === kind);
  if (!found) throw new Error(`unknown reaction ${kind}`);
  return found;
}
