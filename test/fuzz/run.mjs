// `npm run fuzz -- --inputs N [--seed N] [--only NAME]`: bundles the targets with the code they try and runs them.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { browserBundles } from '../../bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const outfile = `${root}/node_modules/.cache/foray-fuzz/main.mjs`;
mkdirSync(`${root}/node_modules/.cache/foray-fuzz`, { recursive: true });
await build({
  entryPoints: [`${root}/test/fuzz/main.ts`],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  define: { FORAY_VERSION: '"fuzz"' },
  plugins: [browserBundles],
  logLevel: 'warning',
});
const env = { ...process.env, FORAY_FUZZ_SEEDS: `${root}/test/fuzz/seeds` };
process.exitCode = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit', env }).status ?? 1;
