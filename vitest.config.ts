import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { viteBrowserBundles } from './bundle.mjs';

const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

/** Tests that measure time or memory of the whole machine: they run last, one at a time. */
const MEASURING = ['test/e2e/load.test.ts', 'test/e2e/flood.test.ts', 'src/**/flood.test.ts'];

export default defineConfig({
  plugins: [viteBrowserBundles],
  define: { FORAY_VERSION: JSON.stringify(version) },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'suite',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/agents/**', 'test/fleet/**', 'test/real/**', 'node_modules/**', ...MEASURING],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'measuring', include: MEASURING, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
