// How src/cli/main.ts becomes the command. Libraries are bundled, since one file is read many times faster than the
// hundreds of files of a package; `?bundle` imports, the browser's part, become strings.
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { browserBundles } from './bundle.mjs';

/** Messages of the schema library in fifty languages, of which we use none. */
const oneLanguage = {
  name: 'one-language',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/**
 * Builds into `outdir` and tells what was made. `crashPoints` puts in the places at which the tests of faults kill the
 * daemon; what is built for users has none.
 */
export async function buildCommand({ outdir, crashPoints = false }) {
  const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));
  const { metafile } = await build({
    absWorkingDir: new URL('.', import.meta.url).pathname,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // It brings a binary of its own.
    external: ['@photostructure/sqlite'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    sourcemap: true,
    banner: { js: `#!/usr/bin/env node\n${REQUIRE}` },
    define: { FORAY_VERSION: JSON.stringify(version), FORAY_CRASH_POINTS: String(crashPoints) },
    plugins: [browserBundles, oneLanguage],
    metafile: true,
    logLevel: 'warning',
  });
  return Object.keys(metafile.outputs);
}
