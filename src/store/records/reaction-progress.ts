import { z } from 'zod';
import { REACTION_KINDS, type ReactionKind } from '../../domain/model/settings.ts';
import type { ReactionMarks, ReactionProgress, Watch } from '../../domain/model/watch.ts';
import { schemaOf } from './json-column.ts';

const none = z.object({ at: z.literal('none') });
const given = z.object({ at: z.literal('given'), comments: z.array(z.string()).readonly() });
const headed = <At extends string>(...at: [At, ...At[]]) => z.object({ at: z.enum(at), headSha: z.string() });

const bareSince = z.number().nullable();
const seen = z.object({ decision: z.string(), mergeability: z.string(), ci: z.string() });

/** What each reaction remembers. */
const MARKS: { readonly [Kind in ReactionKind]: z.ZodType<ReactionMarks[Kind]> } = {
  ci_failure: z.union([none, headed('seen', 'fixing')]),
  review_comments: z.union([none, given]),
  bot_review: z.union([none, given]),
  merge_conflicts: z.union([none, headed('resolving')]),
  auto_merge: z.union([
    none,
    headed('merged'),
    headed('waiting').extend({ bareSince }),
    headed('ready').extend({ bareSince, decision: z.string() }),
    headed('merging', 'queued').extend({ seen }),
    headed('refused').extend({ seen, unsure: z.boolean() }),
    z.object({ at: z.literal('tidied') }),
  ]),
  merge_completion: z.union([none, z.object({ at: z.literal('begun') })]),
  label_commands: z.union([none, z.object({ at: z.literal('read'), upTo: z.string(), owed: z.string().optional() })]),
};

const progressOf = <Kind extends ReactionKind>(kind: Kind) =>
  z.preprocess(
    (stored) => (isOld(stored) ? { ...stored, mark: markOfText(kind, stored) } : stored),
    schemaOf<Omit<ReactionProgress, 'mark'>>()({
      used: z.number(),
      escalated: z.boolean(),
      restored: z.boolean().optional(),
      failures: z.number(),
      nextAt: z.number(),
      waitingFor: z.string(),
    }).and(z.object({ mark: MARKS[kind] })),
  );

/** The progress of every reaction of a watch. */
export const ReactionsSchema = z.strictObject(
  Object.fromEntries(REACTION_KINDS.map((kind) => [kind, progressOf(kind).optional()])),
) as unknown as z.ZodType<Watch['reactions']>;

interface OldProgress {
  readonly mark: string;
  readonly given?: readonly string[];
}

function isOld(stored: unknown): stored is OldProgress {
  return typeof stored === 'object' && stored !== null && 'mark' in stored && typeof stored.mark === 'string';
}

/** Versions before 0.2 stored a mark as text, split at colons, and the comments beside it. */
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
