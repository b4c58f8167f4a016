import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/server/metrics.ts';
import { listen } from '../../src/server/listen.ts';
import { createApp } from '../../src/server/routes.ts';
import { launchChromium } from './chromium.ts';
import { busyAfternoon } from './scene.ts';

const PICTURE = fileURLToPath(new URL('../../docs/dashboard.png', import.meta.url));

// UPDATE_SCREENSHOT=1 npx vitest run test/browser/screenshot.test.ts
it.runIf(process.env.UPDATE_SCREENSHOT)('takes the picture of the README', async () => {
  const daemon = busyAfternoon();
  const server = await listen(createApp(daemon, createMetrics(daemon.notices, daemon.snapshot)), 0);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1400 }, colorScheme: 'light' });
    await page.goto(`http://127.0.0.1:${server.port}/`);
    await page.getByText('Live', { exact: true }).waitFor();
    // Down to the last of the panels that change; history would only make the picture taller.
    const last = await page.locator('[data-key=panel-merge-requests]').boundingBox();
    const clip = { x: 0, y: 0, width: 1280, height: Math.ceil((last?.y ?? 0) + (last?.height ?? 0) + 16) };
    const picture = await page.screenshot({ path: PICTURE, clip });
    expect(picture.byteLength).toBeLessThanOrEqual(200 * 1024);
  } finally {
    await browser.close();
    await server.kill();
  }
});
