import { CANDIDATES_PER_SLICE } from '../domain/model/poll.ts';
import { findAhead } from '../domain/model/find-ahead.ts';
import type { Issue } from '../domain/model/issue.ts';
import { compareRanks, hasRank, rankOf, type Rank } from '../domain/rules/dispatch-order.ts';

/**
 * Puts the candidates of each poll in the order of dispatch. A long list is sorted in slices with a pause after each, since
 * sorting it at once would hold up every other answer. Of the last poll it keeps what the order depends on: what has not
 * changed since is neither read nor sorted again.
 */
export function createOrdering(): (issues: readonly Issue[]) => Promise<readonly Issue[]> {
  /** As the tracker listed them. */
  let ranks: readonly Rank[] = [];
  /** The list itself, for as long as nobody needs its memory: an issue that is the same object need not even be read. */
  let listed = new WeakRef<readonly Issue[]>([]);
  /** Which of them comes first, second and so on; null where they were listed in order. */
  let places: readonly number[] | null = null;
  return async (issues) => {
    const next = await ranksOf(issues, { issues: listed.deref() ?? [], ranks });
    const sorted = next === ranks ? places : await placesOf(next);
    [ranks, places, listed] = [next, sorted, new WeakRef(issues)];
    return sorted === null ? issues : sorted.map((place) => issues[place] as Issue);
  };
}

/** What it listed, and the rank of each. */
interface LastPoll {
  readonly issues: readonly Issue[];
  readonly ranks: readonly Rank[];
}

/** The rank of each. The same list as before when all of them are what they were. */
async function ranksOf(issues: readonly Issue[], before: LastPoll): Promise<readonly Rank[]> {
  const { ranks: last } = before;
  let ranks: Rank[] | null = null;
  let walked = 0;
  for (let index = 0; index < issues.length; index += 1) {
    const issue = issues[index] as Issue;
    const at = issue === before.issues[walked] ? walked : findAhead(last, walked, issue, hasRank);
    if (at !== walked || ranks !== null) {
      ranks ??= last.slice(0, index);
      ranks.push(at < 0 ? rankOf(issue) : (last[at] as Rank));
    }
    if (at >= 0) walked = at + 1;
    if (index % PAUSE_AFTER === PAUSE_AFTER - 1) await yieldToEventLoop();
  }
  return ranks ?? (issues.length === last.length ? last : last.slice(0, issues.length));
}

/** Trackers list the oldest first, which is the order of dispatch wherever there are no priorities: then null. */
async function placesOf(ranks: readonly Rank[]): Promise<readonly number[] | null> {
  if (await isInOrder(ranks)) return null;
  const compare = (a: number, b: number): number => compareRanks(ranks[a] as Rank, ranks[b] as Rank);
  let runs: (readonly number[])[] = [];
  for (let start = 0; start < ranks.length; start += CANDIDATES_PER_SLICE) {
    const length = Math.min(CANDIDATES_PER_SLICE, ranks.length - start);
    runs.push(Array.from({ length }, (_, index) => start + index).sort(compare));
    if (ranks.length > CANDIDATES_PER_SLICE) await yieldToEventLoop();
  }
  while (runs.length > 1) runs = await mergePairs(runs, compare);
  return runs[0] ?? null;
}

async function isInOrder(ranks: readonly Rank[]): Promise<boolean> {
  for (let index = 1; index < ranks.length; index += 1) {
    if (compareRanks(ranks[index - 1] as Rank, ranks[index] as Rank) > 0) return false;
    if (index % PAUSE_AFTER === 0) await yieldToEventLoop();
  }
  return true;
}

type Compare = (a: number, b: number) => number;

async function mergePairs(runs: readonly (readonly number[])[], compare: Compare): Promise<(readonly number[])[]> {
  const merged: (readonly number[])[] = [];
  for (let index = 0; index < runs.length; index += 2)
    merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
  return merged;
}

async function merge(left: readonly number[], right: readonly number[], compare: Compare): Promise<readonly number[]> {
  const [end, start] = [left.at(-1), right[0]];
  if (end === undefined || start === undefined || compare(end, start) <= 0) return left.concat(right);
  const merged: number[] = [];
  for (let [a, b] = [0, 0]; a < left.length || b < right.length;) {
    const [first, second] = [left[a], right[b]];
    const isLeft = second === undefined || (first !== undefined && compare(first, second) <= 0);
    merged.push((isLeft ? first : second) as number);
    if (isLeft) a += 1;
    else b += 1;
    if (merged.length % PAUSE_AFTER === 0) await yieldToEventLoop();
  }
  return merged;
}

const PAUSE_AFTER = 4 * CANDIDATES_PER_SLICE;

function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
