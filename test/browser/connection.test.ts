import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { aRunning, aSnapshot, createFakeDaemon } from '../support/fake-daemon.ts';
import { busyAfternoon } from './scene.ts';
import { change, useBrowser, visit } from './visit.ts';

useBrowser();

/** As when another tab comes to the front, or this one comes back. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'))`);
}

/** The page waits a hundredth as long for an answer. */
async function makeImpatient(page: Page): Promise<void> {
  await page.evaluate(`const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => timeout(ms / 100)`);
}

/** The next question is given up when the test says so, those after it as ever. */
async function giveUpByHand(page: Page): Promise<void> {
  await page.evaluate(`const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = () => {
      AbortSignal.timeout = timeout;
      const giving = new AbortController();
      window.giveUp = () => giving.abort(new DOMException('late', 'TimeoutError'));
      return giving.signal;
    }`);
}

const lost = (page: Page) => page.locator('#stream[data-state=lost]');

describe('a page that nobody looks at', () => {
  it('takes no connection, and shows what it missed when it is looked at again', async () => {
    const daemon = createFakeDaemon();
    const { page, complaints } = await visit(daemon);
    const listeners = daemon.listeners();
    await setHidden(page, true);
    await expect.poll(() => daemon.listeners()).toBe(listeners - 1);
    change(daemon, { running: [aRunning('ENG-1')] });
    await setHidden(page, false);
    await page.getByRole('row', { name: /ENG-1/ }).waitFor();
    await expect.poll(() => daemon.listeners()).toBe(listeners);
    expect(complaints).toEqual([]);
  });
});

describe('a service that does not answer', () => {
  it('is told of where something was asked', async () => {
    const { page } = await visit(busyAfternoon());
    await makeImpatient(page);
    await page.route('**/unpark', () => {});
    await page.getByRole('button', { name: 'Release SHOP-351' }).click();
    await page.getByText('The service has not answered. Look whether it was done before you ask again.').waitFor();
  });

  it('makes the page grey', async () => {
    const daemon = createFakeDaemon();
    const { page, origin } = await visit(daemon);
    await makeImpatient(page);
    await page.route(`${origin}/`, () => {});
    change(daemon, { running: [aRunning('ENG-1')] });
    await lost(page).waitFor();
  });

  it('leaves what was shown on a grey page where it answers with a failure', async () => {
    const daemon = createFakeDaemon({ current: aSnapshot({ running: [aRunning('ENG-1')] }) });
    for (const [status, contentType, body] of FAILURES) {
      const { page, origin } = await visit(daemon);
      await page.route(`${origin}/`, (route) => route.fulfill({ status, contentType, body }));
      change(daemon, {});
      await lost(page).waitFor();
      expect(await lost(page).textContent()).toMatch(/^Update failed at /);
      expect(await page.getByRole('row', { name: /ENG-1/ }).count()).toBe(1);
    }
  });
});

it('a page whose update failed once is live again with the next one', async () => {
  const daemon = createFakeDaemon();
  const { page, origin } = await visit(daemon);
  await page.route(`${origin}/`, (route) => route.abort('connectionreset'), { times: 1 });
  change(daemon, {});
  await lost(page).waitFor();
  change(daemon, { running: [aRunning('ENG-1')] });
  await page.getByRole('row', { name: /ENG-1/ }).waitFor();
  await page.locator('#stream[data-state=live]').waitFor();
  expect(await page.evaluate('document.documentElement.dataset.lost')).toBeUndefined();
});

it('a question that is given up after a later one was answered does not make the page grey', async () => {
  const daemon = createFakeDaemon();
  const { page, origin } = await visit(daemon);
  await giveUpByHand(page);
  const asked = page.waitForRequest(`${origin}/`);
  await page.route(`${origin}/`, () => {}, { times: 1 });
  change(daemon, {});
  const given = page.waitForEvent('requestfailed');
  await asked;
  change(daemon, { running: [aRunning('ENG-1')] });
  await page.getByRole('row', { name: /ENG-1/ }).waitFor();
  await page.evaluate('giveUp()');
  await given;
  expect(await lost(page).count()).toBe(0);
  expect(await page.evaluate('document.documentElement.dataset.lost')).toBeUndefined();
});

it('a question that is given up while a later one waits too makes the page grey', async () => {
  const daemon = createFakeDaemon();
  const { page, origin } = await visit(daemon);
  await giveUpByHand(page);
  await page.route(`${origin}/`, () => {});
  for (let count = 0; count < 2; count += 1) {
    const asked = page.waitForRequest(`${origin}/`);
    change(daemon, {});
    await asked;
  }
  await page.evaluate('giveUp()');
  await lost(page).waitFor();
});

/** Of the service, and of a proxy before it. */
const FAILURES = [
  [500, 'text/html', '<div id="live" data-now="1">This page could not be made.</div>'],
  [502, 'text/html', '<h1>Bad Gateway</h1>'],
  [200, 'application/json', '{}'],
] as const;
