import { CANDIDATES_PER_SLICE } from '../domain/events/on-poll.ts';
import type { Issue } from '../domain/model/issue.ts';
import { compareRanked, ranked, type Ranked } from '../domain/rules/eligibility.ts';

/**
 * A long list of candidates in the order of dispatch. It is sorted in slices with a pause after each, since sorting it at
 * once would hold up every other answer. A short list is left to the core.
 */
export async function inOrder(issues: readonly Issue[]): Promise<readonly Issue[]> {
  if (issues.length <= CANDIDATES_PER_SLICE || (await isInOrder(issues))) return issues;
  let runs: Ranked[][] = [];
  for (let start = 0; start < issues.length; start += CANDIDATES_PER_SLICE) {
    runs.push(
      issues
        .slice(start, start + CANDIDATES_PER_SLICE)
        .map(ranked)
        .sort(compareRanked),
    );
    await breathe();
  }
  while (runs.length > 1) runs = await mergePairs(runs);
  return (runs[0] ?? []).map(({ issue }) => issue);
}

/**
 * Trackers list the oldest first, which is the order of dispatch wherever there are no priorities: then nothing is made
 * for the whole list.
 */
async function isInOrder(issues: readonly Issue[]): Promise<boolean> {
  let before: Ranked | null = null;
  for (const [index, issue] of issues.entries()) {
    const next = ranked(issue);
    if (before !== null && compareRanked(before, next) > 0) return false;
    before = next;
    if (index % (2 * CANDIDATES_PER_SLICE) === 0) await breathe();
  }
  return true;
}

async function mergePairs(runs: readonly Ranked[][]): Promise<Ranked[][]> {
  const merged: Ranked[][] = [];
  for (let index = 0; index < runs.length; index += 2) merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? []));
  return merged;
}

async function merge(left: readonly Ranked[], right: readonly Ranked[]): Promise<Ranked[]> {
  const [end, start] = [left.at(-1), right[0]];
  if (end === undefined || start === undefined || compareRanked(end, start) <= 0) return left.concat(right);
  const merged: Ranked[] = [];
  for (let [a, b] = [0, 0]; a < left.length || b < right.length;) {
    const [first, second] = [left[a], right[b]];
    const isLeft = second === undefined || (first !== undefined && compareRanked(first, second) <= 0);
    merged.push((isLeft ? first : second) as Ranked);
    if (isLeft) a += 1;
    else b += 1;
    if (merged.length % (4 * CANDIDATES_PER_SLICE) === 0) await breathe();
  }
  return merged;
}

function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
