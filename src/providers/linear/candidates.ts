import type { PageSizes } from './operations.ts';
import { FULL_PAGE } from './operations.ts';
import type { WireIssue } from './schema.ts';

/** Room for what comes in between two polls. */
const SPARE = { issues: 5, labels: 2, relations: 2 } as const;

/** Reads all candidates with pages of these sizes; only the first page is as short as they say. */
type ReadAll = (sizes: PageSizes) => Promise<readonly WireIssue[]>;

/**
 * Asks for full pages. While points are short it asks for little more than there was last time, since the remote charges for
 * what is asked for; an issue that has more labels or relations than that is read again, with the others, in full.
 */
export function createCandidateReader(pointsAreShort: () => boolean): (readAll: ReadAll) => Promise<readonly WireIssue[]> {
  let sizes = FULL_PAGE;
  return async (readAll) => {
    const asked = pointsAreShort() ? sizes : FULL_PAGE;
    const found = await readAll(asked);
    const wires = found.some((wire) => isCut(wire, asked)) ? await readAll(FULL_PAGE) : found;
    sizes = sizesAfter(wires);
    return wires;
  };
}

function isCut({ labels, inverseRelations }: WireIssue, asked: PageSizes): boolean {
  return (
    (labels.hasMore && asked.labels < FULL_PAGE.labels) || (inverseRelations.hasMore && asked.relations < FULL_PAGE.relations)
  );
}

function sizesAfter(wires: readonly WireIssue[]): PageSizes {
  const most = (counts: readonly number[]) => counts.reduce((a, b) => Math.max(a, b), 0);
  const seen: PageSizes = {
    issues: wires.length,
    labels: most(wires.map(({ labels }) => labels.nodes.length + labels.unreadable)),
    relations: most(wires.map(({ inverseRelations: { nodes, unreadable } }) => nodes.length + unreadable)),
  };
  const sizeOf = (list: keyof PageSizes) => Math.min(seen[list] + SPARE[list], FULL_PAGE[list]);
  return { issues: sizeOf('issues'), labels: sizeOf('labels'), relations: sizeOf('relations') };
}
