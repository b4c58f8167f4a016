// `npm run build:single`: makes one executable file of the command, with this Node and the database library inside.
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inject } from 'postject';
import { browserBundles } from './bundle.mjs';
import { commonOptions, smallSchemas } from './build-command.mjs';

const OUTPUT = path.resolve('dist-single', process.platform === 'win32' ? 'foray.exe' : 'foray');
/** What Node looks for in its own file. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const LIBRARY = 'sqlite.node';

/** The library looks for its binary beside itself; here it is taken out of the executable. */
const libraryInside = {
  name: 'library-inside',
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: 'inside', namespace: 'library-inside' }));
    pluginBuild.onLoad({ filter: /.*/, namespace: 'library-inside' }, () => ({
      contents: "export { loadLibrary as default } from './src/store/sqlite/load-embedded-binary.ts';",
      resolveDir: path.resolve('.'),
    }));
  },
};

const work = await mkdtemp(path.join(os.tmpdir(), 'foray-single-'));
try {
  await buildScript(path.join(work, 'foray.cjs'));
  const library = fileURLToPath(import.meta.resolve('@photostructure/sqlite')).replace(/dist[/\\].*$/, '');
  const config = {
    main: path.join(work, 'foray.cjs'),
    output: path.join(work, 'foray.blob'),
    disableExperimentalSEAWarning: true,
    assets: { [LIBRARY]: await prebuilt(path.join(library, 'prebuilds', `${process.platform}-${process.arch}`)) },
  };
  await writeFile(path.join(work, 'config.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', path.join(work, 'config.json')], { stdio: 'ignore' });
  await mkdir(path.dirname(OUTPUT), { recursive: true });
  await rm(OUTPUT, { force: true });
  await copyFile(process.execPath, OUTPUT);
  await chmod(OUTPUT, 0o755);
  const isMac = process.platform === 'darwin';
  if (isMac) execFileSync('codesign', ['--remove-signature', OUTPUT]);
  await inject(OUTPUT, 'NODE_SEA_BLOB', await readFile(config.output), {
    sentinelFuse: FUSE,
    ...(isMac ? { machoSegmentName: 'NODE_SEA' } : {}),
  });
  if (isMac) execFileSync('codesign', ['--sign', '-', OUTPUT]);
  console.log(OUTPUT);
} finally {
  await rm(work, { recursive: true, force: true });
}

/** Everything in one script: such a file cannot import others. */
async function buildScript(outfile) {
  const options = await commonOptions({ singleFile: true });
  await build({
    ...options,
    entryPoints: ['src/cli/main.ts'],
    outfile,
    format: 'cjs',
    legalComments: 'none',
    define: { ...options.define, 'import.meta.url': '__forayFile' },
    banner: { js: "const __forayFile = require('node:url').pathToFileURL(process.execPath).href;" },
    plugins: [browserBundles, smallSchemas, libraryInside],
  });
}

/** The binary of this machine's C library, or the only one there is. */
async function prebuilt(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.node'));
  const isMusl = process.report.getReport().header.glibcVersionRuntime === undefined;
  const name = names.find((candidate) => candidate.includes('musl') === isMusl) ?? names[0];
  return path.join(folder, name);
}
