import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeLinear, startFakeLinear } from '../../../test/fakes/linear.ts';
import { bodyOf, never, openTracker } from '../../../test/fakes/linear/connect.ts';
import { complexityOf } from '../../../test/support/linear-complexity.ts';
import { GRAPHQL_OPERATIONS } from './operations.ts';

const open: FakeLinear[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()));
});

async function start() {
  const fake = await startFakeLinear();
  open.push(fake);
  const { tracker } = openTracker(fake);
  const poll = async () => {
    const before = fake.requests.length;
    const found = await tracker.fetchCandidateIssues(never);
    const sent = fake.requests.slice(before).map((request) => bodyOf(request));
    const polls = sent.filter(({ query }) => query.includes('query Issues('));
    return { found, points: polls.map(({ query, variables }) => complexityOf(query, variables)) };
  };
  return { fake, poll };
}

describe('what a poll costs', () => {
  it('is that of a full page; while points are short, little more than there is', async () => {
    const { fake, poll } = await start();
    const blocker = fake.addIssue({ state: 'Done' }).id;
    for (let count = 0; count < 10; count += 1) fake.addIssue({ state: 'Todo', labels: ['bug', 'ui'], blockedBy: [blocker] });
    const [first, second] = [await poll(), await poll()];
    fake.allow({ complexity: 100_000 });
    await poll();
    const short = await poll();
    expect([first.points, second.points, short.points]).toEqual([[6012], [6012], [336]]);
    expect(short.found).toEqual(first.found);
  });

  it('finds all that came since, and reads again what grew past what was asked for', async () => {
    const { fake, poll } = await start();
    fake.addIssue({ state: 'Todo' });
    fake.allow({ complexity: 100_000 });
    await poll();
    for (let count = 0; count < 60; count += 1) fake.addIssue({ state: 'Todo' });
    expect((await poll()).found).toHaveLength(61);
    const many = Array.from({ length: 20 }, (_, index) => `label ${String(index)}`);
    const { identifier } = fake.addIssue({ state: 'Todo', labels: many });
    const { found } = await poll();
    expect(found.find((issue) => issue.identifier === identifier)?.labels).toHaveLength(20);
    expect((await poll()).found).toHaveLength(62);
  });

  it('no document is beyond what one may cost', () => {
    const sizes = { first: 50 };
    for (const { text } of Object.values(GRAPHQL_OPERATIONS)) expect(complexityOf(text, sizes)).toBeLessThan(10_000);
  });

  it('is what the page for operators says', async () => {
    const page = await readFile(new URL('../../../docs/tracker-requests.md', import.meta.url), 'utf8');
    const full = complexityOf(GRAPHQL_OPERATIONS.ISSUES.text, { first: 50 });
    expect(page).toContain(full.toLocaleString('en-US'));
    expect(page).toContain('336');
  });
});
