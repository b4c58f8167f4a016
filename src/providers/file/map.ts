import type { ZodType } from 'zod';
import type { Blocker, Issue, IssueComment, IssueParent } from '../../domain/model/issue.ts';
import { personOf } from '../shared/person.ts';
import type { Entry, IssueBoard } from './issue-board.ts';
import type { Mapped } from './records.ts';
import { commentSchema, optionalFields } from './schema.ts';
import type { Reference } from './schema.ts';

type Fields = typeof optionalFields;
type Values = { readonly [Key in keyof Fields]: Fields[Key] extends ZodType<infer Value> ? Value : never };

/** An entry as a list shows it: without comments. */
export function toIssue(entry: Entry, board: IssueBoard): Mapped<Issue> {
  const { values, unfit } = readFields(entry.record);
  const value: Issue = {
    id: entry.id,
    identifier: entry.identifier,
    displayIdentifier: null,
    title: entry.title,
    description: values.description,
    priority: values.priority,
    state: entry.state,
    branchName: values.branch_name || null,
    url: values.url,
    labels: [...new Set(values.labels)],
    assignee: values.assignee,
    issueType: values.issue_type,
    parent: values.parent === null ? null : parentOf(values.parent, board),
    comments: null,
    // Blockers that nobody can read might block: the issue is held until the file is mended.
    blockedBy: unfit.has('blocked_by') ? null : values.blocked_by.map((reference) => blockerOf(reference, board)),
    createdAt: values.created_at,
    updatedAt: values.updated_at,
    ...(values.author ? { author: personOf(null, [values.author]) } : {}),
  };
  return { value, problems: [...unfit].map(([key, why]) => `issue ${entry.identifier}: ${key}: ${why}`) };
}

/** The comments of an entry, oldest first; one without a readable time stays behind the one before it. */
export function toComments(entry: Entry): Mapped<readonly IssueComment[]> {
  const problems: string[] = [];
  const { values, unfit } = readFields(entry.record);
  if (unfit.has('comments')) problems.push(`issue ${entry.identifier}: comments: ${unfit.get('comments')}`);
  const comments = values.comments.flatMap((found, index): IssueComment[] => {
    const parsed = commentSchema.safeParse(found);
    if (!parsed.success) problems.push(`issue ${entry.identifier}: comment ${index + 1} is no record`);
    if (!parsed.success) return [];
    const { id, author, body, created_at: createdAt } = parsed.data;
    const writer = personOf(null, [author]);
    return [{ id: id || String(index + 1), author, body, createdAt, ...(writer ? { writer } : {}) }];
  });
  return { value: oldestFirst(comments), problems };
}

/** Every field by its own schema; one that does not fit reads as if it were absent. Most are absent, so that is read once. */
function readFields(record: Readonly<Record<string, unknown>>): { values: Values; unfit: Map<string, string> } {
  const unfit = new Map<string, string>();
  const values: Record<string, unknown> = { ...ABSENT };
  for (const key of FIELD_NAMES) {
    if (record[key] === undefined) continue;
    const parsed = optionalFields[key].safeParse(record[key]);
    if (parsed.success) values[key] = parsed.data;
    else unfit.set(key, parsed.error.issues[0]?.message ?? 'does not fit');
  }
  return { values: values as Values, unfit };
}

const FIELD_NAMES = Object.keys(optionalFields) as readonly (keyof Fields)[];
const ABSENT = Object.fromEntries(FIELD_NAMES.map((key) => [key, optionalFields[key].parse(undefined)])) as Values;

function parentOf(reference: Reference, board: IssueBoard): IssueParent {
  const { id, identifier } = namesOf(reference, board);
  return { id, identifier };
}

/** An issue of the same source has the state it is in; what is written counts for others. Unknown, it still blocks. */
function blockerOf(reference: Reference, board: IssueBoard): Blocker {
  const { id, identifier } = namesOf(reference, board);
  const state = board.stateOf(id) ?? board.stateOfIdentifier(identifier) ?? reference.state;
  return { id, identifier, state };
}

/** Both names of an issue of which the file may tell only one. */
function namesOf({ id, identifier }: Reference, board: IssueBoard): IssueParent {
  const entry = board.find(id) ?? board.findByIdentifier(identifier);
  return { id: entry?.id ?? (id || identifier), identifier: entry?.identifier ?? (identifier || id) };
}

function oldestFirst(comments: readonly IssueComment[]): readonly IssueComment[] {
  let latest = Number.NEGATIVE_INFINITY;
  const timed = comments.map((comment) => {
    const time = Date.parse(comment.createdAt);
    latest = Number.isNaN(time) ? latest : time;
    return { comment, time: latest };
  });
  return timed.sort((a, b) => (a.time === b.time ? 0 : a.time - b.time)).map(({ comment }) => comment);
}
