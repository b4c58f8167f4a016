import type { Blocker, Issue, IssueComment, Person } from '../../domain/model/issue.ts';
import { normalName } from '../../domain/model/issue.ts';
import { ageOf } from '../shared/rfc3339.ts';
import { chosenName, personOf } from '../shared/person.ts';
import type { WireComment, WireIssue, WireUser } from './schema.ts';
import { NESTED_CAP } from './settings.ts';

/** The field mapping of the specification. `comments` stays null where they were not read. */
export function toIssue(wire: WireIssue, comments: readonly IssueComment[] | null = null): Issue {
  return {
    id: wire.id,
    identifier: wire.identifier,
    displayIdentifier: null,
    title: wire.title ?? '',
    description: wire.description ?? '',
    priority: priorityOf(wire.priority),
    state: wire.state?.name ?? '',
    branchName: wire.branchName ?? '',
    url: wire.url ?? '',
    labels: wire.labels.nodes.map(({ name }) => normalName(name)),
    assignee: assigneeOf(wire),
    issueType: '',
    parent: wire.parent ?? null,
    comments,
    blockedBy: unresolvedReason(wire) === null ? blockersOf(wire) : null,
    createdAt: wire.createdAt ?? '',
    updatedAt: wire.updatedAt ?? '',
    ...(wire.creator ? { author: toPerson(wire.creator) } : {}),
  };
}

/** Why an issue is not known well enough to be dispatched, or null. */
export function unresolvedReason(wire: WireIssue): string | null {
  const { labels, inverseRelations: relations } = wire;
  if (exceedsCap(labels)) return `more than ${NESTED_CAP} labels`;
  if (exceedsCap(relations)) return `more than ${NESTED_CAP} relations`;
  const unreadable = relations.unreadable > 0 || relations.nodes.some((node) => isBlock(node) && !node.issue);
  return unreadable ? 'a relation that cannot be read' : null;
}

function exceedsCap({ nodes, hasMore }: WireIssue['labels'] | WireIssue['inverseRelations']): boolean {
  return hasMore || nodes.length > NESTED_CAP;
}

type WireRelation = WireIssue['inverseRelations']['nodes'][number];

function isBlock({ type }: WireRelation): boolean {
  return type.trim().toLowerCase() === 'blocks';
}

function blockersOf({ inverseRelations }: WireIssue): readonly Blocker[] {
  return inverseRelations.nodes.filter(isBlock).flatMap(({ issue }) => {
    return issue ? [{ id: issue.id, identifier: issue.identifier, state: issue.state?.name ?? '' }] : [];
  });
}

function assigneeOf({ assignee }: WireIssue): string {
  return assignee?.displayName || assignee?.name || assignee?.email || '';
}

// Urgent, high, medium and low. 0 is none, and so is whatever the remote may come up with.
function priorityOf(priority: number | null | undefined): number | null {
  return priority && [1, 2, 3, 4].includes(priority) ? priority : null;
}

/** By priority, none last, then by age. The remote's own order is another one. */
export function byPriorityThenAge(a: Issue, b: Issue): number {
  const [first, second] = [a.priority ?? Number.MAX_VALUE, b.priority ?? Number.MAX_VALUE];
  return first - second || ageOf(a.createdAt) - ageOf(b.createdAt);
}

/** Oldest first. The remote gives them newest first, so those of one instant are turned around too. */
export function toComments(wires: readonly WireComment[]): readonly IssueComment[] {
  return wires
    .map(toComment)
    .toReversed()
    .toSorted((a, b) => ageOf(a.createdAt) - ageOf(b.createdAt));
}

function toComment({ id, body, createdAt, user, botActor }: WireComment): IssueComment {
  const author = user?.displayName || user?.name || botActor?.name || '';
  return { id, author, body: body ?? '', createdAt: createdAt ?? '', ...(user ? { writer: toPerson(user) } : {}) };
}

function toPerson({ id, displayName, name, email }: WireUser): Person | null {
  return personOf(id, [chosenName(displayName), chosenName(name), email]);
}
