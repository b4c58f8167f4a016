import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { aRun, createFakeDaemon, NOON } from '../support/fake-daemon.ts';
import { busyAfternoon } from './scene.ts';
import { change, useBrowser, visit } from './visit.ts';

useBrowser();

describe('actions', () => {
  it('that end work ask first, say what came of it, and tell who asked', async () => {
    const daemon = busyAfternoon();
    daemon.answer = { outcome: 'taken', message: 'the session of SHOP-412 is being ended' };
    const { page, complaints } = await visit(daemon);
    const stop = page.getByRole('button', { name: 'Stop SHOP-412' });
    await stop.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(daemon.asked).toEqual([]);
    await stop.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /Stop SHOP-412\?/ }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The session of SHOP-412 is being ended.').waitFor();
    expect(daemon.asked).toEqual([{ request: { kind: 'stop', identifier: 'SHOP-412' }, by: '127.0.0.1' }]);
    expect(complaints).toEqual([]);
  });

  it('that do not are sent at once; a refusal is told', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    await page.getByRole('button', { name: 'Release SHOP-351' }).click();
    await page.getByText('Done.').waitFor();
    daemon.answer = { outcome: 'refused', message: 'SHOP-377 is running' };
    await page.getByRole('button', { name: 'Retry now SHOP-377' }).click();
    await page.getByText('SHOP-377 is running.').waitFor();
    expect(daemon.asked.map(({ request }) => request.kind)).toEqual(['unpark', 'retry']);
  });

  it('pause takes a reason and shows on every open page within a second, until resumed', async () => {
    const daemon = busyAfternoon();
    const { page, origin } = await visit(daemon);
    const another = await page.context().newPage();
    await another.goto(`${origin}/statistics`);
    await another.locator('#stream[data-state=live]').waitFor();
    daemon.onAsked = () => change(daemon, { operatorPause: { reason: 'release day', by: 'Ada', since: NOON } });
    await page.getByRole('button', { name: 'Pause dispatching' }).click();
    await page.getByLabel('Reason').fill('release day');
    const answer = page.waitForResponse('**/api/v2/pause');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Done.').waitFor();
    const { requestStart, responseStart } = (await answer).request().timing();
    expect(responseStart - requestStart).toBeLessThan(5_000);
    expect(daemon.asked).toMatchObject([{ request: { kind: 'pause', reason: 'release day' } }]);
    await page.getByText('release day').waitFor();
    await another.getByText('Paused', { exact: true }).waitFor({ timeout: 5_000 });
    await page.getByRole('button', { name: 'Resume dispatching' }).click();
    await expect.poll(() => daemon.asked.length).toBe(2);
  });

  it('Enter in the reason pauses, and a question about work that would end begins with Cancel', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    await page.getByRole('button', { name: 'Pause dispatching' }).click();
    await page.keyboard.type('release day');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => daemon.asked).toMatchObject([{ request: { kind: 'pause', reason: 'release day' } }]);
    await page.getByRole('button', { name: 'Stop SHOP-412' }).click();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(daemon.asked).toHaveLength(1);
  });

  it('leave who used the keyboard at the button, or at the head of the list where it is gone', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    const focused = () => page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id");
    await page.getByRole('button', { name: 'Poll now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Requested.').waitFor();
    await expect.poll(focused).toBe('poll-now');
    daemon.onAsked = () => change(daemon, { running: [] });
    await page.getByRole('button', { name: 'Stop SHOP-412' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing runs.').waitFor();
    await expect.poll(focused).toBe('running-title');
    // What is looked up later leaves it there.
    change(daemon, { retrying: [] });
    await page.getByText('No issue waits for another try.').waitFor();
    expect(await focused()).toBe('running-title');
  });

  it('lead who used the keyboard to a button beside it where pausing or resuming takes its place', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    for (const [name, operatorPause] of [
      ['Pause dispatching', { reason: '', by: 'Ada', since: NOON }],
      ['Resume dispatching', null],
    ] as const) {
      daemon.onAsked = () => change(daemon, { operatorPause });
      const button = page.getByRole('button', { name });
      await button.focus();
      await page.keyboard.press('Enter');
      if (operatorPause !== null) await page.keyboard.press('Enter');
      await button.waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate('document.activeElement.id'), { message: name }).toBe('poll-now');
    }
  });

  it('lead who used the keyboard to the head of a run that is over', async () => {
    const daemon = createFakeDaemon({ runs: [aRun('r-5', { status: 'running', endedAt: null })] });
    const { page } = await visit(daemon, {}, '/runs/r-5');
    daemon.onAsked = () => {
      daemon.runs = [aRun('r-5')];
      change(daemon, {});
    };
    const stop = page.getByRole('button', { name: /^Stop/ });
    await stop.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await stop.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it('lead to the head of the list who leaves a question about a row that is gone', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    await page.getByRole('button', { name: 'Stop SHOP-412' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    change(daemon, { running: [] });
    await page.getByText('Nothing runs.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('running-title');
    expect(daemon.asked).toEqual([]);
  });

  it('a message stays its whole time, also where one stood there before it', async () => {
    const { page } = await visit(createFakeDaemon());
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const shown = page.locator('#toast.shown');
    for (const waited of [4_000, 4_000]) {
      const answer = page.waitForResponse('**/api/v1/refresh');
      await page.getByRole('button', { name: 'Poll now' }).click();
      await answer;
      await expect.poll(() => page.getByRole('button', { name: 'Poll now' }).isEnabled()).toBe(true);
      await page.clock.runFor(waited);
      expect(await shown.count()).toBe(1);
    }
    await page.clock.runFor(2_000);
    expect(await shown.count()).toBe(0);
  });

  it('can be used by keyboard alone', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    const reached = new Set<string>();
    const places = await page.evaluate<readonly string[]>(NUMBER_PLACES);
    for (let count = 0; count < places.length + 5; count += 1) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate<string>("document.activeElement.place ?? ''"));
    }
    expect(places.filter((place) => !reached.has(place))).toEqual([]);
    const stop = page.getByRole('button', { name: 'Stop SHOP-412' });
    await stop.focus();
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /Stop SHOP-412/ }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Stop SHOP-412');
    expect(daemon.asked).toEqual([]);
  });
});

/** Names everything one can click, and gives the names. A look at the server meanwhile takes away attributes, but no properties. */
const NUMBER_PLACES = `[...document.querySelectorAll('a[href], button, input, select, summary')]
  .filter((element) => element.checkVisibility() && !element.disabled)
  .map((element, index) => (element.place = index + ' ' + element.textContent.trim().slice(0, 20)))`;

describe('the board', () => {
  it('searches as one types, and the address keeps it', async () => {
    const { page, origin } = await visit(busyAfternoon());
    await page.getByLabel('Search issues').fill('invoices');
    await page.getByRole('region', { name: 'Running sessions' }).getByText('1 found').waitFor();
    expect(await page.getByRole('row', { name: /SHOP-412/ }).count()).toBe(0);
    expect(page.url()).toBe(`${origin}/?q=invoices`);
    await page.getByLabel('Show').selectOption('running');
    await expect.poll(() => page.getByRole('region', { name: 'Retry queue' }).count()).toBe(0);
    await page.reload();
    expect(await page.getByLabel('Search issues').inputValue()).toBe('invoices');
    expect(await page.getByRole('region', { name: 'Retry queue' }).count()).toBe(0);
  });

  it('turns amber while polls fail, and shows a rejected edit as a banner', async () => {
    const daemon = busyAfternoon();
    const { page } = await visit(daemon);
    daemon.status = { ...daemon.status, rejected: { at: NOON, reason: 'error: agent.kind: unknown kind "clod"' } };
    change(daemon, {
      poll: { last: { at: NOON, durationMs: 5, candidates: 0, error: '503 from the tracker' }, nextAt: NOON, inFlight: false },
    });
    await page.getByText('Serving, but polls fail').waitFor();
    await page.getByText('unknown kind "clod"').waitFor();
    expect(await page.locator('.status').getAttribute('data-tone')).toBe('warn');
    expect(await page.locator('.place').textContent()).toContain('acme/shop');
    expect(await page.locator('.place').textContent()).toContain('build-7:/srv/shop/WORKFLOW.md');
  });
});

describe('a run', () => {
  const run = aRun('r-5', { status: 'running', endedAt: null, startedAt: NOON - 60_000 });
  const message = (index: number) => ({ runId: 'r-5', at: NOON - 60_000 + index, type: 'message', text: `line ${index}.` });

  it('of 5,000 events loads earlier rows as one scrolls, and follows the end', async () => {
    const daemon = createFakeDaemon({ runs: [run], runEvents: Array.from({ length: 5000 }, (_, index) => message(index)) });
    const { page, complaints } = await visit(daemon, {}, '/runs/r-5');
    expect(await page.locator('.transcript li').count()).toBe(150);
    await expect.poll(() => page.getByText('line 4999.').isVisible()).toBe(true);
    await page.evaluate('scrollTo(0, 100)');
    await expect.poll(() => page.getByLabel('Follow').isChecked()).toBe(false);
    await expect.poll(() => page.locator('.transcript li').count()).toBeGreaterThan(150);
    await page.getByLabel('Follow').check();
    daemon.runEvents = [...daemon.runEvents, message(5000)];
    change(daemon, {});
    await page.getByText('line 5000.').waitFor();
    await expect.poll(() => page.evaluate('innerHeight + scrollY >= document.documentElement.scrollHeight - 200')).toBe(true);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['broken off', (route: Route) => route.abort('connectionreset')],
    ['answered with a failure', (route: Route) => route.fulfill({ status: 500 })],
  ] as const)('loads earlier rows after a load that was %s', async (_how, fail) => {
    const daemon = createFakeDaemon({ runs: [run], runEvents: Array.from({ length: 5000 }, (_, index) => message(index)) });
    const { page } = await visit(daemon, {}, '/runs/r-5');
    await page.route(/rows\?before/, fail, { times: 1 });
    const rows = page.locator('.transcript li');
    await expect
      .poll(async () => {
        await page.locator('#earlier').click({ timeout: 5_000 });
        return rows.count();
      })
      .toBeGreaterThan(150);
  });

  it('that has just begun is followed from its first event on', async () => {
    const daemon = createFakeDaemon({ runs: [run] });
    const { page } = await visit(daemon, {}, '/runs/r-5');
    await page.getByText('Nothing was recorded yet.').waitFor();
    for (const index of [0, 1]) {
      daemon.runEvents = [...daemon.runEvents, message(index)];
      change(daemon, {});
      await page.getByText(`line ${index}.`).waitFor();
    }
  });

  it('is searched, and its failures are found', async () => {
    const { page } = await visit(busyAfternoon(), {}, '/runs/r-31');
    await page.getByRole('button', { name: 'Next failure' }).click();
    expect(await page.evaluate('document.activeElement.textContent')).toContain('npm test -- payouts');
    await page.getByLabel('Search the transcript').fill('markSent');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await expect.poll(() => page.locator('.transcript li').count()).toBe(1);
    await page.goto(`${page.url().split('?')[0]}?show=failures`);
    expect(await page.locator('.transcript li').count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Download' }).getAttribute('download')).toBe('run-r-31.json');
  });
});

it('times stand in the zone of the reader, with UTC at hand', async () => {
  const { page } = await visit(busyAfternoon(), { timezoneId: 'Asia/Tokyo', locale: 'en-GB' }, '/runs/r-31');
  const started = page.locator('[data-moment]').first();
  expect(await started.textContent()).toContain('20:10:00');
  expect(await started.getAttribute('title')).toBe('2026-03-01 11:10:00 UTC');
});

it('logs in with the token, acts under the name that was given, and logs out', async () => {
  const daemon = busyAfternoon();
  const { page, complaints } = await visit(daemon, { token: 'open-sesame-please' }, '/issues/SHOP-351');
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('This is not the token.').waitFor();
  await page.getByLabel('Token').fill('open-sesame-please');
  await page.getByLabel('Your name').fill('Ada');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { level: 1, name: /SHOP-351/ }).waitFor();
  await page.locator('#stream[data-state=live]').waitFor();
  await page.getByRole('button', { name: 'Release SHOP-351' }).click();
  await expect.poll(() => daemon.asked).toMatchObject([{ by: 'Ada' }]);
  await page.getByRole('button', { name: 'Log out' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/login');
  await page.goBack();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  expect(complaints).toEqual([]);
});
