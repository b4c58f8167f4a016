import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from './chromium.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const MAX_BYTES = 250 * 1024;
/** Until then the demo has finished some runs and has others under way. */
const SETTLE_MS = 25_000;

const fileOf = (name: string) => fileURLToPath(new URL(`../../docs/${name}.png`, import.meta.url));

/** Starts the demo and gives the address it serves. */
function startDemo(): Promise<{ readonly url: string; stop(): void }> {
  const child = spawn(process.execPath, [CLI, 'demo', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve, reject) => {
    let said = '';
    const look = (chunk: Buffer) => {
      said += chunk.toString();
      const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0];
      if (url !== undefined) resolve({ url, stop: () => void child.kill('SIGINT') });
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', () => reject(new Error(`the demo ended: ${said}`)));
  });
}

// npm run screenshots
describe.runIf(process.env.UPDATE_SCREENSHOTS)('the pictures of the documentation', () => {
  let browser: Browser;
  let demo: Awaited<ReturnType<typeof startDemo>>;
  beforeAll(async () => {
    [browser, demo] = await Promise.all([launchChromium(), startDemo()]);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }, 60_000);
  afterAll(async () => {
    demo?.stop();
    await browser?.close();
  });

  it.each([
    ['dashboard', '', 900],
    ['dashboard-run', 'run', 900],
    ['dashboard-issue', 'issue', 720],
    ['dashboard-statistics', 'statistics', 820],
  ])('%s', async (name, place, height) => {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: 'light' });
    await page.goto(`${demo.url}${place === 'statistics' ? place : ''}`);
    if (place === 'run') await page.goto(await hrefOf('#running a.event, #history td a[href^="/runs/"]'));
    if (place === 'issue') await page.goto(await hrefOf('#history a.issue'));
    await page.locator('#stream[data-state=live]').waitFor();
    // A run under way is followed to its end; the picture begins at its head.
    await page.evaluate('scrollTo(0, 0)');
    const picture = await page.screenshot({ path: fileOf(name) });
    expect(picture.byteLength).toBeLessThanOrEqual(MAX_BYTES);
    await page.close();

    async function hrefOf(selector: string): Promise<string> {
      return new URL((await page.locator(selector).first().getAttribute('href')) ?? '/', demo.url).href;
    }
  });
});
