import { z } from 'zod';
import { normalName } from '../../domain/model/issue.ts';

/*
 * The fields of a record, each on its own: one that does not fit is ignored with a warning and the others are kept. Numbers are
 * taken where people write them for text, integers may be quoted.
 */

/** The text of a field that names something, or null. Called for every record of every read, so it is kept cheap. */
export function nonEmptyText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() || null;
  // An integer beyond what a number holds exactly has become another one.
  return typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? String(value) : null;
}

const text = z.union([z.string(), z.number().transform(String)], 'must be text');
const optionalText = text.nullish().transform((value) => value ?? '');

const reference = z.union([
  text.refine((value) => value.trim() !== '').transform((value) => ({ id: value.trim(), identifier: value.trim(), state: '' })),
  z
    .object({ id: optionalText, identifier: optionalText, state: optionalText })
    .refine((value) => value.id !== '' || value.identifier !== '', 'needs an id or an identifier'),
]);

export const REQUIRED_FIELDS = ['id', 'identifier', 'title', 'state'] as const;

export const optionalFields = {
  description: optionalText,
  priority: z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^-?\d+$/)
          .transform(Number),
      ],
      'must be an integer',
    )
    .nullish()
    .transform((value) => value ?? null),
  branch_name: optionalText,
  url: optionalText,
  labels: z
    .array(text, 'must be a list')
    .nullish()
    .transform((labels) => (labels ?? []).map((label) => normalName(label.trim())).filter((label) => label !== '')),
  assignee: optionalText,
  author: optionalText,
  issue_type: optionalText,
  parent: reference.nullish().transform((value) => value ?? null),
  blocked_by: z
    .array(reference, 'must be a list')
    .nullish()
    .transform((value) => value ?? []),
  comments: z
    .array(z.unknown(), 'must be a list')
    .nullish()
    .transform((value) => value ?? []),
  created_at: optionalText,
  updated_at: optionalText,
};

export const commentSchema = z.object({ id: optionalText, author: optionalText, body: optionalText, created_at: optionalText });

/** A reference to another issue, as written: either name may be missing, and the state usually is. */
export type Reference = z.infer<typeof reference>;
