import { z } from 'zod';
import { readable } from '../shared/records.ts';

const ID = z.union([z.string().min(1), z.number()]).transform(String);
const KEY = z.string().min(1);
const NAMED = z.object({ name: z.string().nullish() }).nullish().catch(null);
/** The category is the same on every site, whatever its statuses are called: `new`, `indeterminate` or `done`. */
const STATUS = z
  .object({ name: z.string().nullish(), statusCategory: z.object({ key: z.string().nullish() }).nullish().catch(null) })
  .nullish()
  .catch(null);
const PERSON = z
  .object({
    displayName: z.string().nullish(),
    accountId: z.string().nullish().catch(null),
    emailAddress: z.string().nullish().catch(null),
  })
  .nullish()
  .catch(null);
export type WirePerson = z.infer<typeof PERSON>;

/** A link to another issue. One end of it is absent; a present one that cannot be read still is one. */
const LINK = z.object({
  type: NAMED,
  inwardIssue: z
    .object({
      id: ID.nullish().catch(null),
      key: KEY.nullish().catch(null),
      fields: z.object({ status: STATUS }).nullish().catch(null),
    })
    .nullish()
    .catch({}),
});

const FIELDS = z.object({
  summary: z.string().nullish(),
  description: z.unknown().optional(),
  priority: z
    .object({ id: z.union([z.string(), z.number()]).nullish() })
    .nullish()
    .catch(null),
  status: NAMED,
  labels: readable(z.string()),
  assignee: PERSON,
  /** Asked for only where it matters who opened an issue. Unlike the reporter, nobody can change it. */
  creator: PERSON,
  issuetype: NAMED,
  parent: z.object({ id: ID, key: KEY }).nullish().catch(null),
  issuelinks: readable(LINK),
  created: z.string().nullish().catch(null),
  // A number in the vendor's own example.
  updated: z.string().nullish().catch(null),
});

/** An issue in searches and alone. */
export const ISSUE = z.object({
  id: ID,
  key: KEY,
  fields: FIELDS.nullish().transform((fields) => fields ?? FIELDS.parse({})),
});
export type WireIssue = z.infer<typeof ISSUE>;

/** What a lookup of states asks for. */
export const ISSUE_STATE = z.object({
  id: ID.nullish(),
  key: KEY.nullish(),
  fields: z.object({ status: NAMED }).nullish(),
});

export const SEARCH_PAGE = z.object({
  issues: z.array(z.unknown()).nullable(),
  nextPageToken: z.string().nullish(),
});

export const COMMENT = z.object({
  id: ID,
  author: PERSON,
  body: z.unknown().optional(),
  created: z.string().nullish(),
});
export type WireComment = z.infer<typeof COMMENT>;

export const COMMENT_PAGE = z.object({
  comments: z.array(z.unknown()).nullable(),
  total: z.number().nullish(),
});

export const PROJECT_STATUSES = z.array(z.object({ statuses: z.array(z.object({ name: z.string() })) }));

/** "Get my permissions": by the key of the permission. */
export const MY_PERMISSIONS = z.object({ permissions: z.record(z.string(), z.object({ havePermission: z.boolean() })) });

export const TRANSITIONS = z.object({ transitions: z.array(z.unknown()).nullable() });
export const TRANSITION = z.object({ id: ID, to: z.object({ name: z.string() }) });

export const MYSELF = z.object({ accountId: z.string() });
