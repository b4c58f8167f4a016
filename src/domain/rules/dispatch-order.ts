import type { Issue } from '../model/issue.ts';

/** What the place of a candidate in the order of dispatch depends on, without the rest of the issue. */
export interface Rank {
  readonly priority: number | null;
  readonly createdAt: string;
  /** The same as a number, read once: a comparison is made many times. */
  readonly created: number;
  readonly identifier: string;
}

/** In the order of dispatch: priority ascending (none last), oldest first, identifier. */
export function inDispatchOrder(issues: readonly Issue[]): readonly Issue[] {
  return issues
    .map((issue) => ({ issue, rank: rankOf(issue) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ issue }) => issue);
}

export function rankOf({ priority, createdAt, identifier }: Issue): Rank {
  return { priority, createdAt, created: Date.parse(createdAt), identifier };
}

/** Whether the issue still has this rank. */
export function hasRank(issue: Issue, rank: Rank): boolean {
  return issue.createdAt === rank.createdAt && issue.priority === rank.priority && issue.identifier === rank.identifier;
}

export function compareRanks(a: Rank, b: Rank): number {
  return comparePriority(a.priority, b.priority) || compareCreated(a, b) || compareText(a.identifier, b.identifier);
}

function comparePriority(a: number | null, b: number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a - b;
}

/** By instant where both parse; an unknown time comes last. */
function compareCreated(a: Rank, b: Rank): number {
  const [first, second] = [Number.isNaN(a.created), Number.isNaN(b.created)];
  if (first && second) return compareText(a.createdAt, b.createdAt);
  if (first) return 1;
  if (second) return -1;
  return a.created - b.created;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
