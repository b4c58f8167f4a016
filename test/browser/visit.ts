import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Snapshot } from '../../src/domain/views/snapshot.ts';
import { listen, type Listening } from '../../src/server/http/listen.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import { createSite, type AppOptions } from '../../src/server/routes.ts';
import { aSnapshot, type FakeDaemon } from '../support/fake-daemon.ts';
import { launchChromium } from './chromium.ts';

let browser: Browser;
const cleanUps: (() => Promise<unknown>)[] = [];

/** One browser for the tests of a file; what each opened is closed after it. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  });
}

export interface Visit {
  readonly page: Page;
  readonly server: Listening;
  /** Whatever the browser complained about: errors, warnings, what the policy blocked. */
  readonly complaints: string[];
  readonly origin: string;
  loads(): number;
}

/** Serves a fake daemon and opens a page on it. */
export async function visit(daemon: FakeDaemon, options: BrowserContextOptions & AppOptions = {}, path = '/'): Promise<Visit> {
  const { token = null, ...context } = options;
  const server = await serve(daemon, 0, { token });
  cleanUps.push(() => server.stop());
  const opened = await browser.newContext(context);
  cleanUps.push(() => opened.close());
  const page = await opened.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // That a page was answered with 401 or 409 is what some tests are about.
    if (/status of (?:401|404|409)/.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  let loads = 0;
  page.on('load', () => (loads += 1));
  const origin = `http://127.0.0.1:${server.port}`;
  await page.goto(`${origin}${path}`);
  if (options.javaScriptEnabled !== false && token === null) await page.locator('#stream[data-state=live]').waitFor();
  return { page, server, complaints, origin, loads: () => loads };
}

export function serve(daemon: FakeDaemon, port: number, options: AppOptions = {}): Promise<Listening> {
  const site = createSite(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
    options,
  );
  return listen(async () => site, port);
}

/** Ends a server of the test's own after it. */
export function afterwards(cleanUp: () => Promise<unknown>): void {
  cleanUps.push(cleanUp);
}

/** Changes what the daemon shows, and tells about it as the real one does. */
export function change(daemon: FakeDaemon, changes: Partial<Snapshot>): void {
  daemon.current = aSnapshot({ ...daemon.current, ...changes });
  daemon.notices.announce({
    name: 'poll:tick:completed',
    facts: { candidates: 0, dispatched: 0, running: 0, retrying: 0, durationMs: 1 },
  });
}

/** How much wider than the window the page is. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
