import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import chromium from '@sparticuz/chromium';
import { chromium as playwright, type Browser } from 'playwright-core';

/** The Chromium of an npm package: nothing has to be installed on the machine. */
export async function launchChromium(): Promise<Browser> {
  const launch = async () =>
    playwright.launch({ executablePath: await chromium.executablePath(), args: browserArguments(), env: browserEnvironment() });
  try {
    return await launch();
  } catch {
    // The package unpacks itself into the temporary directory once; what an interrupted run left there does not start.
    process.env.TMPDIR = await mkdtemp(path.join(tmpdir(), 'foray-chromium-'));
    return launch();
  }
}

/**
 * Of the package's switches: none that turns web security off, since the pages' own policy is under test, and not the
 * single process, which ends with its first page.
 */
const UNWANTED: ReadonlySet<string> = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--single-process',
  '--no-zygote',
]);

/** The package's own font, so that pages look the same everywhere. */
function browserEnvironment(): Record<string, string | undefined> {
  return { ...process.env, FONTCONFIG_PATH: path.join(tmpdir(), 'fonts') };
}

function browserArguments(): string[] {
  return chromium.args.filter((argument) => !UNWANTED.has(argument));
}
