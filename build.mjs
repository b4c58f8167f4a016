// Bundles src/cli/main.ts into dist/cli.js. Packages stay outside the bundle; `?bundle` imports, the browser's part, become strings.
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { browserBundles } from './bundle.mjs';

const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));

/** Messages of the schema library in fifty languages, of which we use none. */
const oneLanguage = {
  name: 'one-language',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /[/\\]zod[/\\]v4[/\\]locales[/\\]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

const { metafile } = await build({
  entryPoints: { cli: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // One file is read many times faster than the hundreds of files of a package. This one brings a binary of its own.
  external: ['@photostructure/sqlite'],
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'linked',
  sourcemap: true,
  banner: {
    js: `#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`,
  },
  define: { FORAY_VERSION: JSON.stringify(version) },
  plugins: [browserBundles, oneLanguage],
  metafile: true,
  logLevel: 'warning',
});

// What an earlier build left goes after the new one is there: a command that is running finds its parts meanwhile.
const made = new Set(Object.keys(metafile.outputs));
for (const name of await readdir('dist', { recursive: true, withFileTypes: true })) {
  const file = path.join(path.relative('.', name.parentPath ?? name.path), name.name);
  if (name.isFile() && !made.has(file)) await rm(file);
}
