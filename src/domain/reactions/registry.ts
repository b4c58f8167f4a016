import { camelCase } from '../model/data-shape.ts';
import type { ReactionKind } from '../model/reaction.ts';
import { OWN_TRIGGERS, type Trigger } from '../model/run.ts';
import type { ReactionSettings } from '../model/settings.ts';
import { AUTO_MERGE } from './auto-merge.ts';
import { CI_FAILURE } from './ci-failure.ts';
import { LABEL_COMMANDS } from './label-commands.ts';
import { MERGE_COMPLETION } from './merge-completion.ts';
import { MERGE_CONFLICTS } from './merge-conflicts.ts';
import type { ReactionKey, Reaction } from './reaction.ts';
import { BOT_REVIEW, REVIEW_COMMENTS } from './reviews.ts';

/** Every reaction, in the order in which people read of them. */
export const REACTIONS = [
  CI_FAILURE,
  REVIEW_COMMENTS,
  BOT_REVIEW,
  MERGE_CONFLICTS,
  AUTO_MERGE,
  MERGE_COMPLETION,
  LABEL_COMMANDS,
] as const;

export const REACTION_KINDS: readonly ReactionKind[] = REACTIONS.map(({ kind }) => kind);

/** Those that start runs, and what they hand to them. */
export const PROMPTING = REACTIONS.filter((reaction) => reaction.prompt !== null);

/** Why a run may have been started. */
export const TRIGGERS: readonly Trigger[] = [...OWN_TRIGGERS, ...PROMPTING.map(({ kind }) => kind)];

/** What of the tracker the reactions that are switched on name, by the key that does. */
export function namedByReactions({ on }: ReactionSettings, what: 'state' | 'label'): readonly { key: string; name: string }[] {
  return REACTIONS.flatMap(({ kind, keys }) => {
    const options: Readonly<Record<string, unknown>> = { ...on[kind] };
    const naming = Object.entries<ReactionKey>(keys).filter(([, key]) => key.names === what);
    return naming.flatMap(([key]) => {
      const name = options[camelCase(key)];
      return typeof name === 'string' && name !== '' ? [{ key: `reactions.${kind}.${key}`, name }] : [];
    });
  });
}

/** Those that are switched on, in the order of judgement: first all that start runs, since a merge waits for a queued run. */
export function activeReactions(settings: ReactionSettings): readonly (Reaction & { readonly kind: ReactionKind })[] {
  return IN_ORDER.filter(({ kind }) => settings.on[kind] !== undefined);
}

const IN_ORDER = [...PROMPTING, ...REACTIONS.filter((reaction) => reaction.prompt === null)];

export function reactionOf(kind: ReactionKind): Reaction {
  const found = REACTIONS.find((reaction) => reaction.kind === kind);
  if (!found) throw new Error(`unknown reaction ${kind}`);
  return found;
}
