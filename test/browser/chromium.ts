import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type Chromium from '@sparticuz/chromium';
import { chromium as playwright, type Browser } from 'playwright-core';

/** The Chromium of an npm package, with the libraries that come with it: nothing has to be installed on the machine. */
export async function launchChromium(): Promise<Browser> {
  const { executablePath, args, env } = await chromiumProgram();
  return playwright.launch({ executablePath, args, env: { ...process.env, ...env } });
}

/** The program, and the variables by which it finds its own libraries and fonts. */
export async function chromiumProgram() {
  const { home, chromium } = await unpack();
  return {
    home,
    executablePath: path.join(home, 'chromium'),
    args: [...chromium.args.filter((argument) => !UNWANTED.has(argument)), '--disable-gpu'],
    env: {
      // The package's own font, so that pages look the same everywhere.
      FONTCONFIG_PATH: path.join(home, 'fonts'),
      LD_LIBRARY_PATH: path.join(home, 'al2023', 'lib'),
    },
  };
}

/**
 * The package unpacks itself into the temporary directory, and its libraries only where it takes the machine for one of
 * Lambda. So it is told so, into a folder of its own, which gets its name once it is complete.
 */
async function unpack(): Promise<{ home: string; chromium: typeof Chromium }> {
  const before = { TMPDIR: process.env['TMPDIR'], AWS_EXECUTION_ENV: process.env['AWS_EXECUTION_ENV'] };
  const home = path.join(tmpdir(), `foray-browser-${await versionInUse()}`);
  const fresh = await mkdtemp(path.join(tmpdir(), 'foray-chromium-'));
  try {
    Object.assign(process.env, { TMPDIR: fresh, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' });
    const { default: chromium } = await import('@sparticuz/chromium');
    if (!existsSync(home)) {
      await chromium.executablePath();
      await writeFile(path.join(fresh, 'fonts', 'fonts.conf'), fontsOf(home));
      // Another worker may have been quicker.
      await rename(fresh, home).catch(() => {});
    }
    return { home, chromium };
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The package's own list names places that no other machine has; without a font, a page crashes. */
const fontsOf = (home: string): string =>
  `<fontconfig><dir>${path.join(home, 'fonts')}</dir><cachedir>${path.join(home, 'fonts-cache')}</cachedir></fontconfig>\n`;

async function versionInUse(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { devDependencies: Record<string, string> }).devDependencies['@sparticuz/chromium'] ?? '';
}

/**
 * Of the package's switches: none that turns web security off, since the pages' own policy is under test, not the
 * single process, which ends with its first page, and no graphics card that is played by the processor: it made every page
 * four times as dear.
 */
const UNWANTED: ReadonlySet<string> = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--single-process',
  '--no-zygote',
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
]);
