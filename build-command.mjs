// How src/cli becomes the command. Libraries are bundled, since one file is read many times faster than the hundreds of
// files of a package; `?bundle` imports, the browser's part, become strings.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { browserBundles } from './bundle.mjs';

/**
 * The schema library, small: its messages in fifty languages, of which we use none, stay out, and its functions are
 * imported one by one, so that those nobody calls stay out too.
 */
export const smallSchemas = {
  name: 'small-schemas',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    pluginBuild.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replace(/^import \{ z \} from 'zod';/m, "import * as z from 'zod';"),
      loader: 'ts',
    }));
  },
};

/** The entry finds the rest beside it. */
const besideEntry = {
  name: 'beside-entry',
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^\.\/command-line\.ts$/ }, () => ({ path: `./${REST}`, external: true }));
  },
};

const REST = 'chunks/command-line.mjs';
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** What every form of the command is built with. */
export async function commonOptions({ crashPoints = false, singleFile = false } = {}) {
  const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));
  return {
    absWorkingDir: new URL('.', import.meta.url).pathname,
    bundle: true,
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    define: {
      FORAY_VERSION: JSON.stringify(version),
      FORAY_CRASH_POINTS: String(crashPoints),
      FORAY_SINGLE_FILE: String(singleFile),
    },
    metafile: true,
    logLevel: 'warning',
  };
}

/**
 * Builds into `outdir` and tells what was made. `crashPoints` puts in the places at which the tests of faults kill the
 * daemon; what is built for users has none.
 */
export async function buildCommand({ outdir, crashPoints = false }) {
  const common = { ...(await commonOptions({ crashPoints })), outdir, sourcemap: true };
  const rest = await build({
    ...common,
    entryPoints: { 'command-line': 'src/cli/command-line.ts' },
    entryNames: 'chunks/[name]',
    chunkNames: 'chunks/[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    // It brings a binary of its own.
    external: ['@photostructure/sqlite'],
    banner: { js: REQUIRE },
    plugins: [browserBundles, smallSchemas],
  });
  const entry = await build({
    ...common,
    entryPoints: { cli: 'src/cli/main.ts' },
    format: 'cjs',
    banner: { js: '#!/usr/bin/env node' },
    plugins: [besideEntry],
  });
  await mkdir(outdir, { recursive: true });
  // The loader of CommonJS is up sooner, which is all that the entry is for.
  const kind = path.join(outdir, 'package.json');
  await writeFile(kind, '{ "type": "commonjs" }\n');
  return [...Object.keys(rest.metafile.outputs), ...Object.keys(entry.metafile.outputs), kind];
}
