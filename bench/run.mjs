// `npm run bench`: bundles the benchmark, which uses parts of src and the fake remotes of the tests, and runs it.
// `npm run bench:fleet` does the same with that of a service and its workers.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { browserBundles } from '../bundle.mjs';

/** What the tests bring along finds its files from where it stands, not from the bundle. */
const inPlace = {
  name: 'in-place',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /[/\\]test[/\\].*\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)),
      loader: 'ts',
    }));
  },
};

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}/node_modules/.cache/foray-bench`;
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: {
    main: `${root}/bench/main.ts`,
    inside: `${root}/bench/support/inside.ts`,
    fleet: `${root}/bench/fleet.ts`,
    'fleet-workers': `${root}/bench/support/fleet-workers.ts`,
  },
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  define: { FORAY_VERSION: '"bench"' },
  plugins: [browserBundles, inPlace],
  logLevel: 'warning',
});
// It adds a fixed time to every start of Node and would hide what is measured.
const { NODE_EXTRA_CA_CERTS: _unused, ...env } = process.env;
const [first, ...rest] = process.argv.slice(2);
const [program, given] = first === 'fleet' ? ['fleet', rest] : ['main', process.argv.slice(2)];
const args = ['--expose-gc', `${folder}/${program}.mjs`, ...given];
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...env, FORAY_BENCH_ROOT: root } });
process.exitCode = status ?? 1;
