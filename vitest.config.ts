import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { viteBrowserBundles } from './bundle.mjs';

const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

/** Tests that measure time or memory of the whole machine: they run last, one at a time. */
const MEASURING = ['test/e2e/load.test.ts', 'test/e2e/flood.test.ts', 'src/**/flood.test.ts'];

/** Many tests wait for processes: one more than there are cores keeps the cores busy. */
const TOGETHER = { maxWorkers: 3, sequence: { groupOrder: 0 } };

export default defineConfig({
  plugins: [viteBrowserBundles],
  define: { FORAY_VERSION: JSON.stringify(version) },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Most of their time was loading the same modules again for every file.
        test: {
          ...TOGETHER,
          name: 'unit',
          include: ['src/**/*.test.ts'],
          exclude: MEASURING,
          isolate: false,
          restoreMocks: true,
        },
      },
      {
        extends: true,
        test: {
          ...TOGETHER,
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: ['test/agents/**', 'test/real/**', 'test/fleet/**', ...MEASURING],
        },
      },
      { extends: true, test: { name: 'measuring', include: MEASURING, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
