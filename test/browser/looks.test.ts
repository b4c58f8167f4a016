import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { aRun, aRunning, aSnapshot, anIssue, createFakeDaemon, NOON, type FakeDaemon } from '../support/fake-daemon.ts';
import { accessibilityFaults, type Scope } from './accessibility.ts';
import { busyAfternoon } from './scene.ts';
import { overflow, useBrowser, visit, type Visit } from './visit.ts';

useBrowser();

const WIDTHS = [320, 768, 1280] as const;
const SCHEMES = ['light', 'dark'] as const;

function withSessions(count: number): FakeDaemon {
  if (count === 3) return busyAfternoon();
  const running = Array.from({ length: count }, (_, index) => aRunning(`ENG-${index + 1}`, { lastMessage: 'npm test -- a/b' }));
  const daemon = createFakeDaemon({ current: aSnapshot({ running, slots: { max: Math.max(1, count), available: 0 } }) });
  daemon.runs = running.slice(0, 60).map(({ issueIdentifier, runId }) => aRun(runId, { issue: anIssue(issueIdentifier) }));
  return daemon;
}

/** The page fits, and axe finds nothing, at every width in light and dark. */
async function expectGoodLooks({ page, complaints }: Visit, rows: Scope['rows'] = 'all'): Promise<void> {
  const widest = await overflowAtEveryWidth(page);
  expect(widest).toEqual(WIDTHS.map(() => 0));
  for (const [index, width] of WIDTHS.entries()) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const scope: Scope = { rows: index === 0 ? rows : 'first', rules: colorScheme === 'light' ? 'all' : 'colours' };
      expect(await accessibilityFaults(page, scope), `${width} px, ${colorScheme}`).toEqual([]);
    }
  }
  expect(complaints).toEqual([]);
}

async function overflowAtEveryWidth(page: Page): Promise<readonly number[]> {
  const found: number[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    found.push(Math.max(0, await overflow(page)));
  }
  return found;
}

describe.each([0, 3, 1000])('with %i sessions', (count) => {
  it('the board fits every width in light and dark, and axe finds nothing', async () => {
    await expectGoodLooks(await visit(withSessions(count)), count > 100 ? 'first' : 'all');
  });
});

describe.each(['/runs/r-31', '/issues/SHOP-389', '/issues/SHOP-351', '/statistics', '/history', '/login', '/issues/none'])(
  '%s',
  (path) => {
    it('fits every width in light and dark, and axe finds nothing', async () => {
      await expectGoodLooks(await visit(busyAfternoon(), path === '/login' ? { token: 'x'.repeat(20) } : {}, path));
    });
  },
);

it('a long identifier does not widen the page of its run or its issue', async () => {
  const name = `LONG-${'X'.repeat(120)}`;
  const daemon = createFakeDaemon({ runs: [aRun('r-1', { issue: anIssue(name) })] });
  for (const path of ['/runs/r-1', `/issues/${name}`, '/history']) {
    const { page } = await visit(daemon, { viewport: { width: 320, height: 700 } }, path);
    expect(await overflow(page), path).toBeLessThanOrEqual(0);
  }
});

it('text of either direction and of any length stays in its place', async () => {
  const odd = `\u05E9\u05DC\u05D5\u05DD ${'word'.repeat(200)}`;
  const daemon = createFakeDaemon({ runs: [aRun('r-1', { issue: anIssue('ENG-1', { title: odd }), error: odd })] });
  daemon.runEvents = [
    {
      runId: 'r-1',
      at: NOON,
      type: 'tool_ended',
      text: odd,
      details: { kind: 'result', toolId: 'x', name: odd, input: odd, ok: false, durationMs: 1, output: odd },
    },
  ];
  for (const path of ['/runs/r-1', '/issues/ENG-1', '/history']) {
    const { page } = await visit(daemon, { viewport: { width: 320, height: 700 } }, path);
    expect(await overflow(page), path).toBeLessThanOrEqual(0);
  }
});
