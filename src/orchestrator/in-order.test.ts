import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { issueWith } from '../../test/support/issues.ts';
import type { Issue } from '../domain/model/issue.ts';
import { inDispatchOrder } from '../domain/rules/dispatch-order.ts';
import { createOrdering } from './in-order.ts';

const TIMES = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00+02:00', '2026-02-01T00:00:00Z', 'yesterday', ''];

const issue = fc.record({
  id: fc.integer({ min: 0, max: 30 }).map(String),
  priority: fc.option(fc.integer({ min: 0, max: 3 }), { nil: null }),
  createdAt: fc.constantFrom(...TIMES),
});

/** What happens to a list between two polls: a stretch of it goes, others come or change in its place. */
const change = fc.record({ at: fc.nat({ max: 40 }), gone: fc.nat({ max: 40 }), come: fc.array(issue, { maxLength: 6 }) });

describe('the order of candidates', () => {
  it('is that of a list sorted anew, whatever changed since the last poll', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(issue, { maxLength: 80 }), fc.array(change, { maxLength: 8 }), async (first, changes) => {
        const inOrder = createOrdering();
        let listed: readonly Issue[] = first.map(issueWith);
        expect(await inOrder(listed)).toEqual(inDispatchOrder(listed));
        for (const { at, gone, come } of changes) {
          listed = listed.toSpliced(at, gone, ...come.map(issueWith)).map((one, index) => (index % 3 === 0 ? { ...one } : one));
          expect(await inOrder(listed)).toEqual(inDispatchOrder(listed));
        }
      }),
    );
  });

  it('of a long list is the same as that of a short one', async () => {
    const listed = Array.from({ length: 9_000 }, (_, index) =>
      issueWith({
        id: `${index}`,
        priority: (index * 7) % 5,
        createdAt: new Date(((index * 7919) % 10_007) * 1000).toISOString(),
      }),
    );
    const inOrder = createOrdering();
    for (const list of [listed, listed.toReversed(), listed.slice(3_000), inDispatchOrder(listed)]) {
      expect(await inOrder(list)).toEqual(inDispatchOrder(list));
    }
  });
});
