import { z } from 'zod';
import type { ZodType } from 'zod';

// Only the fields that are used. What does not fit inside a record is left out of it rather than losing the record.

export const PAGE_INFO = z.object({ hasNextPage: z.boolean().nullish(), endCursor: z.string().nullish() });

/** A list whose entries are judged one by one, see `records` of TrackerHttp. */
export const CONNECTION = z.object({ nodes: z.array(z.unknown()), pageInfo: PAGE_INFO.nullish() });
export type WireConnection = z.output<typeof CONNECTION>;

const NAMED = z.object({ name: z.string() });
const STATE = NAMED.nullish().catch(null);
const TEXT = z.string().nullish();
const PERSON = z.object({ id: TEXT, displayName: TEXT, name: TEXT, email: TEXT });
export type WireUser = z.output<typeof PERSON>;

const RELATION = z.object({
  type: z.string(),
  issue: z.object({ id: z.string(), identifier: z.string(), state: STATE }).nullish().catch(null),
});

export const ISSUE = z.object({
  id: z.string().min(1),
  identifier: z.string().min(1),
  title: TEXT,
  description: TEXT,
  priority: z.number().nullish().catch(null),
  branchName: TEXT,
  url: TEXT,
  createdAt: TEXT,
  updatedAt: TEXT,
  state: STATE,
  assignee: PERSON.nullish().catch(null),
  /** Null where an integration opened it. */
  creator: PERSON.nullish().catch(null),
  parent: z.object({ id: z.string(), identifier: z.string() }).nullish().catch(null),
  labels: nested(NAMED),
  inverseRelations: nested(RELATION),
});
export type WireIssue = z.output<typeof ISSUE>;

/** Whether somebody put an issue away; what is not told was not. */
export const REMOVAL = z.object({ archivedAt: TEXT.catch(null), trashed: z.boolean().nullish().catch(null) });

/** Of an issue, what a state lookup asks for. */
export const ISSUE_STATE = z.object({ id: z.string(), number: z.number().nullish(), state: STATE });

export const COMMENT = z.object({
  id: z.string(),
  body: TEXT,
  createdAt: TEXT,
  user: PERSON.nullish().catch(null),
  botActor: z.object({ name: TEXT }).nullish().catch(null),
});
export type WireComment = z.output<typeof COMMENT>;

export const TEAM_STATE = z.object({ id: z.string(), name: z.string(), type: z.string().nullish().catch(null) });
export type WireTeamState = z.output<typeof TEAM_STATE>;

export const LABEL = z.object({
  id: z.string(),
  name: z.string(),
  isGroup: z.boolean().nullish(),
  team: z.object({ key: z.string() }).nullish(),
});
export type WireLabel = z.output<typeof LABEL>;

/** A short list inside a record: what can be read of it, how much cannot, and whether there is more of it. */
function nested<T>(schema: ZodType<T>) {
  return z
    .object({ nodes: z.array(z.unknown()), pageInfo: PAGE_INFO.nullish().catch({ hasNextPage: true }) })
    .nullish()
    .catch({ nodes: [undefined], pageInfo: null })
    .transform((list) => {
      const entries = (list?.nodes ?? []).map((entry) => schema.safeParse(entry));
      const nodes = entries.flatMap((entry) => (entry.success ? [entry.data] : []));
      return { nodes, unreadable: entries.length - nodes.length, hasMore: list?.pageInfo?.hasNextPage === true };
    });
}
