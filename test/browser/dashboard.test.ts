import { describe, expect, it } from 'vitest';
import { aRetry, aRun, aRunning, aSnapshot, anIssue, createFakeDaemon, NOON } from '../support/fake-daemon.ts';
import { busyAfternoon } from './scene.ts';
import { afterwards, change, overflow, serve, useBrowser, visit } from './visit.ts';

const PHONE = { width: 320, height: 740 };

useBrowser();

describe('the dashboard in a browser', () => {
  it('shows a session appear and finish, without reloading', async () => {
    const daemon = createFakeDaemon();
    const { page, complaints, loads } = await visit(daemon);
    const panel = page.getByRole('region', { name: 'Running sessions' });
    await panel.getByText('Nothing runs.').waitFor();

    change(daemon, { running: [aRunning('ENG-1')], slots: { max: 10, available: 9 } });
    await panel.getByRole('row', { name: /ENG-1/ }).waitFor();
    expect(await page.title()).toBe('1 running, 0 retrying, 0 parked · foray');

    daemon.runs = [aRun('r-1')];
    change(daemon, { running: [] });
    await panel.getByText('Nothing runs.').waitFor();
    await page.getByRole('region', { name: 'Recent runs' }).getByText('succeeded').waitFor();
    expect(loads()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('keeps focus, selection, scroll and unfolded text while rows come and go around them', async () => {
    const daemon = createFakeDaemon();
    const long = `first line\n${'more '.repeat(100)}`;
    daemon.current = aSnapshot({
      running: Array.from({ length: 40 }, (_, index) => aRunning(`RUN-${index}`)),
      retrying: [aRetry('ENG-2', { error: long }), aRetry('ENG-3')],
    });
    const { page } = await visit(daemon);
    await page.locator('[data-key="error-id-ENG-2"] summary').click();
    await page.getByRole('link', { name: 'ENG-3', exact: true }).focus();
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector('[data-key="retry-id-ENG-2"] .title bdi'))`);
    const scrolled = await page.evaluate('scrollY');

    change(daemon, {
      running: daemon.current.running.map((entry, index) => ({ ...entry, turnCount: 90 + index })),
      retrying: [aRetry('ENG-2', { error: long, attempt: 5 }), aRetry('ENG-3'), aRetry('ENG-4')],
    });
    await page.getByRole('row', { name: /ENG-4/ }).waitFor();
    const kept = await page.evaluate(`({
      open: document.querySelector('[data-key="error-id-ENG-2"]').open,
      focus: document.activeElement.textContent,
      selection: getSelection().toString(),
      scrolled: scrollY,
    })`);
    expect(kept).toEqual({ open: true, focus: 'ENG-3', selection: 'Title of ENG-2', scrolled });
  });

  it('counts time by itself', async () => {
    const daemon = createFakeDaemon();
    daemon.current = aSnapshot({ running: [aRunning('ENG-1', { startedAt: NOON - 60_000 })] });
    const { page } = await visit(daemon);
    const duration = page.getByRole('cell').filter({ has: page.locator('[data-clock=since]') });
    const first = await duration.textContent();
    await expect.poll(() => duration.textContent()).not.toBe(first);
    expect(await duration.textContent()).toMatch(/^1m \d\ds$/);
  });

  it('asks for a poll', async () => {
    const daemon = createFakeDaemon();
    const { page, complaints } = await visit(daemon);
    await page.getByRole('button', { name: 'Poll now' }).click();
    await page.getByText('Requested.').waitFor();
    expect(daemon.refreshPending).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('says when the service is gone, and goes on when it is back', async () => {
    const daemon = createFakeDaemon();
    const { page, server } = await visit(daemon);
    await server.stop();
    await page.locator('#stream[data-state=lost]').waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).filter")).toBe('grayscale(1)');
    daemon.current = aSnapshot({ running: [aRunning('ENG-9')] });
    const again = await serve(daemon, server.port);
    afterwards(() => again.stop());
    await page.getByRole('row', { name: /ENG-9/ }).waitFor();
    await page.locator('#stream[data-state=live]').waitFor();
  });

  it('runs nothing and breaks nothing, whatever an issue is called', async () => {
    const nasty = `"><script>alert(1)</script><img src=x onerror="alert(2)"> ' & \u202E مرحبا`;
    const daemon = createFakeDaemon({ runs: [aRun('r-1', { issue: anIssue(nasty, { title: nasty }), error: nasty })] });
    daemon.current = aSnapshot({
      running: [aRunning('ENG-1', { title: nasty, lastMessage: nasty, state: nasty, url: 'javascript:alert(3)' })],
      retrying: [aRetry('ENG-2', { error: nasty.repeat(5) })],
    });
    const { page, complaints } = await visit(daemon);
    change(daemon, {
      parked: [{ issue: anIssue(nasty, { title: nasty }), reason: 'blocked', detail: nasty, parkedAt: NOON, stateAtPark: null }],
    });
    await page.getByRole('region', { name: 'Needs a person' }).getByRole('row').nth(1).waitFor();
    expect(await page.locator('#live script, #live img').count()).toBe(0);
    expect(await page.locator('.title bdi').first().textContent()).toBe(nasty);
    expect(complaints).toEqual([]);
  });

  it('is usable with the names people look for', async () => {
    const { page } = await visit(busyAfternoon());
    await page.getByRole('heading', { level: 1, name: 'foray' }).waitFor();
    for (const name of [
      'Summary',
      'Running sessions',
      'Retry queue',
      'Needs a person',
      'Not dispatched, and why',
      'Watched merge requests',
      'Recent runs',
    ]) {
      expect(await page.getByRole('region', { name }).count(), name).toBe(1);
    }
    expect(await page.getByRole('main').count()).toBe(1);
    expect(await page.getByRole('columnheader', { name: 'Last event' }).count()).toBe(1);
    expect(await page.getByRole('rowheader', { name: /SHOP-412/ }).count()).toBe(1);
    expect(await page.locator('[aria-live=polite]').textContent()).toBe('3 running, 2 retrying, 1 parked');
  });

  it('links to the page of a run, which follows the run', async () => {
    const daemon = busyAfternoon();
    const { page, complaints } = await visit(daemon);
    await page.getByRole('region', { name: 'Recent runs' }).getByRole('link', { name: 'Open transcript of SHOP-389' }).click();
    await page.getByRole('heading', { level: 1, name: /SHOP-389/ }).waitFor();
    await page.locator('#stream[data-state=live]').waitFor();
    await page.getByText('npm test -- payouts').first().click();
    await page.getByText('expected 2 attempts, got 1').waitFor();
    daemon.runEvents = [...daemon.runEvents, { runId: 'r-31', at: NOON, type: 'message', text: 'one more word' }];
    change(daemon, {});
    await page.getByText('one more word').waitFor();
    expect(await page.getByText('expected 2 attempts, got 1').isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Board' }).click();
    await page.getByRole('region', { name: 'Running sessions' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('on a phone', () => {
  it('words without a break do not widen the page', async () => {
    const endless = 'x'.repeat(300);
    const daemon = createFakeDaemon();
    daemon.current = aSnapshot({
      running: [aRunning(endless, { title: endless, state: endless, lastMessage: endless, modelName: endless })],
      retrying: [aRetry(endless, { error: endless })],
      parked: [{ issue: anIssue(endless), reason: 'blocked', detail: endless, parkedAt: NOON, stateAtPark: null }],
      preflightProblem: endless,
    });
    const { page } = await visit(daemon);
    for (const viewport of [PHONE, { width: 768, height: 900 }, { width: 1280, height: 800 }]) {
      await page.setViewportSize(viewport);
      expect(await overflow(page), `${viewport.width} px`).toBeLessThanOrEqual(0);
      const cut =
        "[...document.querySelectorAll('.panel')].filter((panel) => panel.scrollWidth > panel.clientWidth).map((panel) => panel.dataset.key)";
      expect(await page.evaluate(cut), `${viewport.width} px`).toEqual([]);
    }
  });

  it('a row is one line, with its actions in reach and the rest on the page of the issue', async () => {
    const { page } = await visit(busyAfternoon(), { viewport: PHONE });
    expect(await page.locator('thead').first().isVisible()).toBe(false);
    for (const row of await page.locator('tbody tr').all()) expect((await row.boundingBox())?.height).toBeLessThanOrEqual(48);
    const cut =
      "[...document.querySelectorAll('tbody a.issue')].filter((link) => link.scrollWidth > link.clientWidth + 1).length";
    expect(await page.evaluate(cut)).toBe(0);
    for (const name of ['Stop SHOP-412', 'Retry now SHOP-377', 'Stop SHOP-377', 'Release SHOP-351']) {
      const box = await page.getByRole('button', { name }).boundingBox();
      expect(box?.height, name).toBeGreaterThanOrEqual(32);
      expect((box?.x ?? 0) + (box?.width ?? 999), name).toBeLessThanOrEqual(308);
    }
  });

  it('and on a tablet nothing of a row is cut off', async () => {
    const { page } = await visit(busyAfternoon(), { viewport: { width: 768, height: 900 } });
    const box = await page.getByRole('button', { name: 'Stop SHOP-412' }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(744);
  });
});

describe('with other wishes', () => {
  it('moves nothing where no motion is wanted', async () => {
    const daemon = createFakeDaemon();
    daemon.current = aSnapshot({ running: [aRunning('ENG-1')] });
    const { page } = await visit(daemon, { reducedMotion: 'reduce' });
    change(daemon, { running: [aRunning('ENG-1'), aRunning('ENG-2')] });
    await page.locator('tr.arrived').waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('tr.arrived')).animationName")).toBe('none');
  });

  it('shows everything with scripts off, and reloads itself', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon, { javaScriptEnabled: false });
    for (const shown of ['SHOP-412', 'SHOP-377', 'foray unpark SHOP-351', 'SHOP-433', 'SHOP-389']) {
      expect(await page.getByText(shown).first().isVisible(), shown).toBe(true);
    }
    expect(await page.getByRole('button', { name: /Release|Stop|Retry|Pause|Poll/ }).count()).toBe(0);
    // It stands where only a browser without scripts sees it. That such a browser heeds it takes five seconds to see.
    expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toBe('5');
    await page.getByLabel('Search issues').fill('invoices');
    await page.getByRole('button', { name: 'Apply' }).click();
    expect(await page.getByRole('row', { name: /SHOP-412/ }).count()).toBe(0);
    expect(await page.getByRole('row', { name: /SHOP-398/ }).count()).toBe(1);
  });
});
