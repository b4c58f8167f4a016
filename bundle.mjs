// Turns `?bundle` imports into text: what the browser gets, bundled and minified. The build and the tests share it.
import path from 'node:path';
import { build } from 'esbuild';

const SUFFIX = '?bundle';
const MARK = 'browser-bundle:';

async function bundleForBrowser(entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    write: false,
    logLevel: 'warning',
  });
  return outputFiles[0].text;
}

/** For esbuild. */
export const browserBundles = {
  name: 'browser-bundles',
  setup(pluginBuild) {
    const { absWorkingDir = process.cwd() } = pluginBuild.initialOptions;
    // Source maps name it: a path of this machine would make the build another in every folder.
    pluginBuild.onResolve({ filter: /\?bundle$/ }, (args) => ({
      path: path.relative(absWorkingDir, path.join(args.resolveDir, args.path.slice(0, -SUFFIX.length))),
      namespace: 'browser-bundle',
    }));
    pluginBuild.onLoad({ filter: /.*/, namespace: 'browser-bundle' }, async (args) => ({
      contents: await bundleForBrowser(path.join(absWorkingDir, args.path)),
      loader: 'text',
    }));
  },
};

/** The same for Vite, which runs the tests. */
export const viteBrowserBundles = {
  name: 'browser-bundles',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!source.endsWith(SUFFIX)) return null;
    // Named so that Vite does not take a style sheet for one of its own.
    return `\0${MARK}${path.resolve(path.dirname(importer), source.slice(0, -SUFFIX.length))}:text`;
  },
  async load(id) {
    if (!id.startsWith(`\0${MARK}`)) return null;
    return `export default ${JSON.stringify(await bundleForBrowser(id.slice(MARK.length + 1, -':text'.length)))};`;
  },
};
