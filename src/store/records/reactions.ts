import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { camelCase } from '../../domain/model/data-shape.ts';
import { NO_MARK, type ReactionContext, type ReactionKind } from '../../domain/model/reaction.ts';
import type { ReactionProgress, Watch } from '../../domain/model/watch.ts';
import { PROMPTING, REACTION_KINDS, reactionOf, TRIGGERS } from '../../domain/reactions/registry.ts';
import { dataSchema, fieldsSchema } from './data-schema.ts';
import { schemaOf } from './json-column.ts';

/** What a claim keeps of the reaction that asked for its run. */
export const ReactionContextSchema = once(
  () =>
    z.looseObject(
      Object.fromEntries(PROMPTING.map(({ prompt }) => [camelCase(prompt.variable), dataSchema(prompt.shape).optional()])),
    ) as unknown as z.ZodType<ReactionContext>,
);

/** What a reaction remembers. */
function markSchema(kind: ReactionKind): z.ZodType {
  const marks = Object.entries({ ...reactionOf(kind).marks, [NO_MARK.at]: {} });
  return z.union(marks.map(([at, fields]) => fieldsSchema(fields, { at: z.literal(at) })));
}

const progressOf = (kind: ReactionKind) =>
  z.preprocess(
    (stored) => (isOld(stored) ? { ...stored, mark: markOfText(kind, stored) } : stored),
    schemaOf<Omit<ReactionProgress, 'mark'>>()({
      used: z.number(),
      escalated: z.boolean(),
      asked: z.object({ at: z.number(), why: z.string(), state: z.string().optional(), runs: z.number().optional() }).optional(),
      restored: z.boolean().optional(),
      failures: z.number(),
      nextAt: z.number(),
      waitingFor: z.string(),
    }).and(z.object({ mark: markSchema(kind) })),
  );

/** The progress of every reaction of a watch. */
export const ReactionsSchema = once(
  () =>
    z.strictObject(Object.fromEntries(REACTION_KINDS.map((kind) => [kind, progressOf(kind).optional()]))) as unknown as z.ZodType<
      Watch['reactions']
    >,
);

interface OldProgress {
  readonly mark: string;
  readonly given?: readonly string[];
}

function isOld(stored: unknown): stored is OldProgress {
  return typeof stored === 'object' && stored !== null && 'mark' in stored && typeof stored.mark === 'string';
}

/** The older shape of a stored mark: a text, split at colons, with the comments beside it. */
function markOfText(kind: ReactionKind, { mark, given: comments = [] }: OldProgress): unknown {
  if (kind === 'review_comments' || kind === 'bot_review')
    return comments.length > 0 ? { at: 'given', comments } : { at: 'none' };
  if (mark === '') return { at: 'none' };
  if (kind === 'label_commands') return { at: 'read', upTo: mark };
  if (kind === 'merge_conflicts') return { at: 'resolving', headSha: mark };
  const [at = '', headSha = '', decision = ''] = mark.split(':');
  if (at === 'begun' || at === 'tidied') return { at };
  const nothing = { decision: '', mergeability: '', ci: '' };
  const more = { waiting: { bareSince: null }, ready: { bareSince: null, decision }, merging: { seen: nothing } };
  const refused = { seen: nothing, unsure: false };
  return { at, headSha, ...(at === 'refused' ? refused : more[at as keyof typeof more]) };
}

/** Why a run was started. */
export const TriggerSchema = once(() => z.enum(TRIGGERS));
